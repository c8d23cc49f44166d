package fusion

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/plackett"
)

// strengths are tried for drawing weights to equal ones: from hardly to almost wholly.
var strengths = []float64{0.005, 0.02, 0.1, 1}

// A Model is what Learn finds.
type Model struct {
	Weights           // fitted to all queries
	Held    []Weights // [folds] fitted to the queries of the other folds, to be measured on the fold
	Fold    []int     // [queries] the fold of each
	Forms   []Weights // fitted to all queries, one of each form, the best first by cross-validation

	// Kinds has weights for kinds of queries, of the form, k and temperature of Weights; nil: they are not certainly better than the same
	// for all. HeldKinds [folds] are fitted to the queries of the other folds.
	Kinds     map[string]Weights
	HeldKinds []map[string]Weights
}

// A candidate is a form with a strength of the draw to equal weights.
type candidate struct {
	form     Form
	strength float64
}

// A search holds the fits of all candidates to the queries outside two folds, i ≤ j: outside one fold if i = j, and to all queries if
// both are the number of folds. So the choice for fold i, by cross-validation over the other folds, and the choice for all queries
// share their fits.
type search struct {
	ctx        context.Context
	queries    []*Query
	discounts  []float64
	folds      int
	fold       []int
	candidates []candidate
	fits       []Weights
	values     [][]float64 // expected NDCG by fit and query, of the folds that the fit has not seen

	progress func(part float64)
	lock     sync.Mutex
	done     int // fits
}

func (s *search) at(c, i, j int) int {
	return (c*(s.folds+1)+min(i, j))*(s.folds+1) + max(i, j)
}

// Learn fits the weights of two or more runs to judged queries. It fits each [Form], with several strengths by which weights are drawn to
// equal ones, and chooses by the expected NDCG on held-out queries: the strength that is best, and [Reciprocal] as the form unless another
// one is better by more than a standard error of the difference, because the best of several on few queries is often the luckiest.
// Where queries are of several kinds, it also fits weights for each kind, drawn to the others by a strength that is chosen likewise, and
// keeps them if they are better by more than two standard errors, because kinds seldom differ.
//
// Query q belongs to fold q mod folds. The choice for a fold is made within the others. discounts are θ of the metric, see
// metrics.Discounts. progress, unless nil, is called with the part that is done.
//
// Learn returns an error for fewer than two runs or three folds, for fewer queries than folds, and if the context ends.
func Learn(ctx context.Context, queries []*Query, discounts []float64, folds int, progress func(part float64)) (*Model, error) {
	if folds < 3 || len(queries) < folds {
		return nil, fmt.Errorf("fusion: %d folds of %d queries: want 3 folds or more, and a query for each", folds, len(queries))
	}
	for _, q := range queries {
		if len(q.Scores) < 2 || len(q.Scores) != len(queries[0].Scores) {
			return nil, fmt.Errorf("fusion: query %s: scores of %d runs: want two or more, and as many for each query", q.ID, len(q.Scores))
		}
	}
	s := &search{ctx: ctx, queries: queries, discounts: discounts, folds: folds, progress: progress}
	for q := range queries {
		s.fold = append(s.fold, q%folds)
	}
	for _, form := range Forms {
		for _, strength := range strengths {
			s.candidates = append(s.candidates, candidate{form, strength})
		}
	}
	if err := s.fitAll(); err != nil {
		return nil, err
	}
	m := &Model{Fold: s.fold}
	var chosen []int // by the fold left out
	for without := range folds + 1 {
		chosen = append(chosen, s.choose(s.perForm(without), without))
		m.Held = append(m.Held, s.fits[s.at(chosen[without], without, without)])
	}
	m.Weights, m.Held = m.Held[folds], m.Held[:folds]
	if err := s.byKind(m, chosen); err != nil {
		return nil, err
	}
	best := s.perForm(folds)
	slices.SortStableFunc(best, func(a, b int) int { return cmp.Compare(s.mean(b, folds), s.mean(a, folds)) })
	for _, c := range best {
		m.Forms = append(m.Forms, s.fits[s.at(c, folds, folds)])
	}
	return m, nil
}

// fitAll makes the fits.
func (s *search) fitAll() error {
	size := s.at(len(s.candidates), 0, 0)
	s.fits, s.values = make([]Weights, size), make([][]float64, size)
	var jobs [][3]int
	for c := range s.candidates {
		for i := range s.folds {
			for j := i; j < s.folds; j++ {
				jobs = append(jobs, [3]int{c, i, j})
			}
		}
		jobs = append(jobs, [3]int{c, s.folds, s.folds})
	}
	return parallel.Each(len(jobs), parallel.Workers(len(jobs)), func(_, job int) (err error) {
		c, i, j := jobs[job][0], jobs[job][1], jobs[job][2]
		fit := s.at(c, i, j)
		if s.fits[fit], err = newShared(s.ctx, s.candidates[c].form, s.candidates[c].strength, s.outside(i, j), s.discounts).fit(); err != nil {
			return err
		}
		s.values[fit] = make([]float64, len(s.queries))
		for q, query := range s.queries {
			if s.fold[q] == i || s.fold[q] == j {
				if s.values[fit][q], err = s.expected(s.fits[fit], query); err != nil {
					return err
				}
			}
		}
		if s.progress != nil {
			s.lock.Lock()
			defer s.lock.Unlock()
			s.done++
			s.progress(float64(s.done) / float64(len(jobs)))
		}
		return nil
	})
}

// outside returns the queries outside two folds.
func (s *search) outside(i, j int) (train []*Query) {
	for q, query := range s.queries {
		if s.fold[q] != i && s.fold[q] != j {
			train = append(train, query)
		}
	}
	return train
}

// expected returns the expected NDCG of a query.
func (s *search) expected(w Weights, q *Query) (float64, error) {
	scores := w.Scores(q)
	floats.Scale(w.Inverse, scores)
	e := plackett.Expectation{Tolerance: 1e-4, Check: s.ctx.Err}
	value, err := e.Gradient(scores, q.Gains, s.discounts, nil)
	if err != nil {
		return 0, fmt.Errorf("fusion: query %s: %w", q.ID, err)
	}
	return value, nil
}

// byKind sets the weights by kind of a model, if the queries are of several, beside the chosen candidates by the fold left out.
func (s *search) byKind(m *Model, chosen []int) error {
	if !slices.ContainsFunc(s.queries, func(q *Query) bool { return q.Kind != s.queries[0].Kind }) {
		return nil
	}
	m.HeldKinds = make([]map[string]Weights, s.folds+1)
	err := parallel.Each(s.folds+1, parallel.Workers(s.folds+1), func(_, without int) (err error) {
		m.HeldKinds[without], err = s.kinds(chosen[without], without)
		return err
	})
	m.Kinds, m.HeldKinds = m.HeldKinds[s.folds], m.HeldKinds[:s.folds]
	return err
}

// kinds returns the weights by kind near those of a candidate, without a fold, by the strength that is best by cross-validation over the
// other folds; nil if none is certainly better than the candidate.
func (s *search) kinds(c, without int) (map[string]Weights, error) {
	best, most := 0.0, 0.001 // less is not worth it
	for _, strength := range strengths {
		var differences []float64
		for other := range s.folds {
			if other == without {
				continue
			}
			i := without
			if without == s.folds {
				i = other
			}
			kinds, err := s.fitKinds(c, i, other, strength)
			if err != nil {
				return nil, err
			}
			for q, query := range s.queries {
				if w, known := kinds[query.Kind]; s.fold[q] == other && known {
					value, err := s.expected(w, query)
					if err != nil {
						return nil, err
					}
					differences = append(differences, value-s.values[s.at(c, i, other)][q])
				}
			}
		}
		if mean := certain(differences, 2); mean > most {
			best, most = strength, mean
		}
	}
	if best == 0 {
		return nil, nil
	}
	return s.fitKinds(c, without, without, best)
}

// fitKinds fits weights for each kind of the queries outside two folds. Each is drawn to the weights of all by the strength for
// all queries: the fewer there are of a kind, the nearer it stays.
func (s *search) fitKinds(c, i, j int, strength float64) (map[string]Weights, error) {
	train := s.outside(i, j)
	byKind, kinds := map[string][]*Query{}, map[string]Weights{}
	for _, q := range train {
		byKind[q.Kind] = append(byKind[q.Kind], q)
	}
	for kind, list := range byKind {
		drawn := strength * float64(len(train)) / float64(len(list))
		w, err := newObjective(s.ctx, s.fits[s.at(c, i, j)], drawn, list, s.discounts).fit()
		if err != nil {
			return nil, err
		}
		kinds[kind] = w
	}
	return kinds, nil
}

// certain returns the mean of differences if it is more than a number of standard errors, and else 0.
func certain(differences []float64, errors float64) float64 {
	mean, sd := stat.MeanStdDev(differences, nil)
	if mean > errors*sd/math.Sqrt(float64(len(differences))) {
		return mean
	}
	return 0
}

// held returns the expected NDCG of a candidate on each query of all folds but one, by fits without its fold.
func (s *search) held(c, without int) (values []float64) {
	for q, fold := range s.fold {
		if fold == without {
			continue
		}
		other := without
		if without == s.folds {
			other = fold
		}
		values = append(values, s.values[s.at(c, other, fold)][q])
	}
	return values
}

func (s *search) mean(c, without int) float64 { return stat.Mean(s.held(c, without), nil) }

// perForm returns the best candidate of each form.
func (s *search) perForm(without int) []int {
	best := make([]int, len(Forms))
	for f := range Forms {
		best[f] = f * len(strengths)
		for c := best[f]; c < (f+1)*len(strengths); c++ {
			if s.mean(c, without) > s.mean(best[f], without) {
				best[f] = c
			}
		}
	}
	return best
}

// choose returns the candidate of Reciprocal unless another one is certainly better.
func (s *search) choose(best []int, without int) int {
	usual := best[slices.Index(Forms, Reciprocal)]
	chosen, most := usual, 0.0
	for _, c := range best {
		difference := s.held(c, without)
		floats.Sub(difference, s.held(usual, without))
		if mean := certain(difference, 1); mean > most {
			chosen, most = c, mean
		}
	}
	return chosen
}
