package fusion

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/plackett"
)

// strengths are tried for drawing weights to equal ones: from hardly to almost wholly.
var strengths = []float64{0.005, 0.02, 0.1, 1}

// A Model is what Learn finds.
type Model struct {
	Weights            // fitted to all queries
	Held     []Weights // [folds] fitted to the queries of the other folds, to be measured on the fold
	Fold     []int     // [queries] the fold of each
	Forms    []Weights // fitted to all queries, one of each form, the best first by cross-validation
	Expected []float64 // E[NDCG] of Forms on the queries held out
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
	expected   [][]float64 // by fit and query, of the folds that the fit has not seen
}

func (s *search) at(c, i, j int) int {
	return (c*(s.folds+1)+min(i, j))*(s.folds+1) + max(i, j)
}

// Learn fits the weights of two or more runs to judged queries. It fits each [Form], with several strengths by which weights are drawn to
// equal ones, and chooses by the expected NDCG on held-out queries: the strength that is best, and [Reciprocal] as the form unless another
// one is better by more than a standard error of the difference, because the best of several on few queries is often the luckiest.
// Query q belongs to fold q mod folds. The choice for a fold is made within the others. discounts are θ of the metric, see
// metrics.Discounts. Learn returns an error for fewer than two runs, three folds, or as many queries as folds, and if the context ends.
func Learn(ctx context.Context, queries []*Query, discounts []float64, folds int) (*Model, error) {
	if folds < 3 || len(queries) < folds {
		return nil, fmt.Errorf("fusion: %d folds of %d queries: want 3 folds or more, and a query for each", folds, len(queries))
	}
	for _, q := range queries {
		if len(q.Scores) < 2 || len(q.Scores) != len(queries[0].Scores) {
			return nil, fmt.Errorf("fusion: query %s: scores of %d runs: want two or more, and as many for each query", q.ID, len(q.Scores))
		}
	}
	s := &search{ctx: ctx, queries: queries, discounts: discounts, folds: folds}
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
	for without := range folds {
		m.Held = append(m.Held, s.fits[s.at(s.choose(s.perForm(without), without), without, without)])
	}
	best := s.perForm(folds)
	m.Weights = s.fits[s.at(s.choose(best, folds), folds, folds)]
	slices.SortStableFunc(best, func(a, b int) int { return cmp.Compare(s.mean(b, folds), s.mean(a, folds)) })
	for _, c := range best {
		m.Forms, m.Expected = append(m.Forms, s.fits[s.at(c, folds, folds)]), append(m.Expected, s.mean(c, folds))
	}
	return m, nil
}

// fitAll makes the fits.
func (s *search) fitAll() error {
	size := s.at(len(s.candidates), 0, 0)
	s.fits, s.expected = make([]Weights, size), make([][]float64, size)
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
		var train []*Query
		for q, query := range s.queries {
			if s.fold[q] != i && s.fold[q] != j {
				train = append(train, query)
			}
		}
		fit := s.at(c, i, j)
		if s.fits[fit], err = newObjective(s.ctx, s.candidates[c].form, s.candidates[c].strength, train, s.discounts).fit(); err != nil {
			return err
		}
		s.expected[fit] = make([]float64, len(s.queries))
		e := plackett.Expectation{Tolerance: 1e-4, Check: s.ctx.Err}
		for q, query := range s.queries {
			if s.fold[q] == i || s.fold[q] == j {
				scores := s.fits[fit].Scores(query)
				floats.Scale(s.fits[fit].Inverse, scores)
				if s.expected[fit][q], err = e.Gradient(scores, query.Gains, s.discounts, nil); err != nil {
					return fmt.Errorf("fusion: query %s: %w", query.ID, err)
				}
			}
		}
		return nil
	})
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
		values = append(values, s.expected[s.at(c, other, fold)][q])
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
		mean, sd := stat.MeanStdDev(difference, nil)
		if mean > sd/math.Sqrt(float64(len(difference))) && mean > most {
			chosen, most = c, mean
		}
	}
	return chosen
}
