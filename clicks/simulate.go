package clicks

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/plackett"
)

// A Logger is the logging policy of a simulation: rankings are drawn from the Plackett–Luce policy of its scores.
type Logger struct {
	// Model and Version name the model in the log.
	Model, Version string

	// Scores returns the scores of the query's documents. Several goroutines call it at once. nil: all scores are 0.
	Scores func(d *datasets.Dataset, query int) ([]float64, error)

	// Temperature divides the scores. 0: 1.
	Temperature float64

	// Cutoff is the number of documents that are shown. 0: 10.
	Cutoff int

	// Others are models that make the rankings together with this one, with its Temperature and Cutoff: see [Interleaving].
	Others []Logger
	// Draft makes their rankings by team draft; otherwise they are drawn, see [Interleaving.Weigh].
	Draft bool

	// Rules returns what the rankings of the query's documents have to obey, nil for nothing. Several goroutines call it at once.
	// nil: nothing, for all queries.
	Rules func(d *datasets.Dataset, query int) *plackett.Rules
}

// A User describes how simulated users click. The zero User examines every rank and clicks by
// attraction.
type User struct {
	// Attraction is the probability that a document of this label is clicked when it is
	// examined; nil: (2^label − 1)/(2^highest − 1), highest being the highest label.
	Attraction func(label float32) float64
	// Behaviour turns attraction into clicks; nil: PositionBased with no bias.
	Behaviour Behaviour
}

// A Behaviour sets the clicks on a ranking, by the attraction of the documents from the top.
// random gives random numbers in [0, 1).
type Behaviour func(attraction, clicks []float64, random func() float64)

// PositionBased users examine rank k with probability θ_k, and click by attraction (Craswell
// et al., WSDM 2008). Ranks beyond the last are not examined.
func PositionBased(theta []float64) Behaviour { return AffineClicks(Bias{Alpha: theta}) }

// AffineClicks users click a document of attraction a at rank k with probability α_k a + β_k,
// as those who trust the ranking do (Agarwal et al., WWW 2019; Vardasbi et al., CIKM 2020).
// Ranks beyond the last are not clicked.
func AffineClicks(b Bias) Behaviour {
	return func(attraction, clicks []float64, random func() float64) {
		for k, a := range attraction {
			clicks[k] = 0
			if u := random(); k < len(b.Alpha) && u < b.Alpha[k]*a+b.beta(k) {
				clicks[k] = 1
			}
		}
	}
}

// Cascade users go down the ranking and stop at their first click (Craswell et al., WSDM
// 2008).
func Cascade() Behaviour {
	return func(attraction, clicks []float64, random func() float64) {
		clear(clicks)
		for k, a := range attraction {
			if random() < a {
				clicks[k] = 1
				return
			}
		}
	}
}

// MostSimulated is the largest number of impressions that [Simulate] makes. They are in memory together, and take up to
// 1 KB each.
const MostSimulated = 1 << 24

// Simulate makes a log of n impressions, at most [MostSimulated]. For each it draws one of the
// queries of d that have documents, all with the same probability, and a ranking from the logging policy. Documents without an
// id are called "query.n", n from 1, as in [datasets.WriteRun]. The i-th impression has ID i and
// comes in the i-th second of 1970. The result is a pure function of the arguments.
//
// Simulate returns an error if d has no documents or a query with two documents of one id, if
// a label is below 0 and User.Attraction is nil, or if a score is not finite.
func Simulate(d *datasets.Dataset, logging Logger, user User, n int, seed uint64) (*Log, error) {
	logging.Cutoff = cmp.Or(logging.Cutoff, 10)
	if n < 0 || logging.Cutoff < 0 {
		return nil, fmt.Errorf("clicks: %d impressions at cutoff %d: want no negative numbers", n, logging.Cutoff)
	}
	if n > MostSimulated {
		return nil, fmt.Errorf("clicks: %d impressions: want %d at most, and more in several logs, of different seeds", n, MostSimulated)
	}
	s := simulation{d: d, logging: logging, behaviour: user.Behaviour, shared: make([]Impression, d.Queries())}
	if err := s.prepare(user); err != nil {
		return nil, err
	}
	log := &Log{Impressions: make([]Impression, n)}
	log.featuresOf(d)
	const block = 1024
	blocks := (n + block - 1) / block
	workers := parallel.Workers(blocks)
	policies := make([]plackett.Ruled, workers)
	err := parallel.Each(blocks, workers, func(w, b int) error {
		pcg := new(rand.PCG)
		for i := b * block; i < min(n, (b+1)*block); i++ {
			pcg.Seed(num.SplitMixNext(seed), num.SplitMixNext(uint64(i)))
			if err := s.show(&log.Impressions[i], &policies[w], rand.New(pcg)); err != nil {
				return err
			}
			log.Impressions[i].ID = strconv.Itoa(i + 1)
			log.Impressions[i].Time = time.Unix(int64(i+1), 0).UTC()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return log, nil
}

// A simulation holds what the impressions of [Simulate] have in common.
type simulation struct {
	d          *datasets.Dataset
	logging    Logger
	behaviour  Behaviour
	queries    []int        // that have documents
	shared     []Impression // by query: what all of its impressions share
	attraction []float64    // [rows]
}

// prepare computes what the impressions of a query share.
func (s *simulation) prepare(user User) error {
	longest := 0
	for q := range s.d.Queries() {
		if n := s.d.Offsets[q+1] - s.d.Offsets[q]; n > 0 {
			s.queries = append(s.queries, q)
			longest = max(longest, n)
		}
	}
	if len(s.queries) == 0 {
		return errors.New("clicks: no documents to show")
	}
	if user.Attraction == nil {
		if r := slices.IndexFunc(s.d.Labels, func(l float32) bool { return !(l >= 0) }); r >= 0 {
			return fmt.Errorf("clicks: %s: label %v: want 0 or more, or User.Attraction", s.d.Where(r), s.d.Labels[r])
		}
		highest := math.Exp2(float64(slices.Max(s.d.Labels))) - 1
		user.Attraction = func(label float32) float64 { return (math.Exp2(float64(label)) - 1) / cmp.Or(highest, 1) }
	}
	s.attraction = make([]float64, s.d.Rows())
	for r, label := range s.d.Labels {
		s.attraction[r] = user.Attraction(label)
	}
	if s.behaviour == nil {
		s.behaviour = PositionBased(slices.Repeat([]float64{1}, min(s.logging.Cutoff, longest)))
	}
	return parallel.Each(len(s.queries), parallel.Workers(len(s.queries)), func(_, i int) error {
		return s.share(s.queries[i])
	})
}

// share sets what all impressions of a query have in common.
func (s *simulation) share(q int) error {
	from, to := s.d.Offsets[q], s.d.Offsets[q+1]
	im := Impression{Query: s.d.QueryIDs[q], Model: s.logging.Model, Version: s.logging.Version, Temperature: s.logging.Temperature,
		Cutoff: s.logging.Cutoff, Documents: documentIDs(s.d, q)}
	if s.d.IsSparse() {
		rows := s.d.Sparse.Cut(from, to)
		im.Sparse = &rows
	} else {
		im.Features = s.d.Dense(nil, from, to)
	}
	var models []Contributor
	for i, l := range append([]Logger{s.logging}, s.logging.Others...) {
		m := Contributor{Name: l.Model, Version: l.Version, Scores: make([]float64, to-from)}
		if l.Scores != nil {
			var err error
			if m.Scores, err = l.Scores(s.d, q); err != nil {
				return fmt.Errorf("clicks: query %q: %w", im.Query, err)
			}
		}
		if models = append(models, m); i > 0 {
			im.Model, im.Version = im.Model+"+"+m.Name, im.Version+"+"+m.Version
		}
	}
	if s.logging.Others == nil {
		im.Scores = models[0].Scores
	} else {
		im.Interleaving = &Interleaving{Models: models}
		if !s.logging.Draft {
			if err := im.Interleaving.Weigh(im.Temperature, im.Cutoff); err != nil {
				return fmt.Errorf("clicks: query %q: %w", im.Query, err)
			}
		}
	}
	if s.logging.Rules != nil {
		im.Rules = s.logging.Rules(s.d, q)
	}
	s.shared[q] = im
	if s.logging.Draft {
		return nil
	}
	one := &Log{Impressions: []Impression{im}}
	one.featuresOf(s.d)
	return one.Validate()
}

// show makes one impression.
func (s *simulation) show(im *Impression, p *plackett.Ruled, random *rand.Rand) error {
	q := s.queries[random.IntN(len(s.queries))]
	*im = s.shared[q]
	im.Seed = random.Uint64()
	if err := s.rank(im, p); err != nil {
		return fmt.Errorf("clicks: query %q: %w", im.Query, err)
	}
	im.Clicks = make([]float64, len(im.Shown))
	attraction := make([]float64, len(im.Shown))
	for k, d := range im.Shown {
		attraction[k] = s.attraction[s.d.Offsets[q]+d]
	}
	s.behaviour(attraction, im.Clicks, random.Float64)
	return nil
}

// rank sets the ranking of an impression by its seed.
func (s *simulation) rank(im *Impression, p *plackett.Ruled) (err error) {
	if im.Interleaving != nil {
		own := *im.Interleaving
		im.Interleaving = &own
		if s.logging.Draft {
			im.Shown = own.Draft(im.Cutoff, im.Seed)
			return nil
		}
		im.Shown, err = own.Draw(im.Temperature, im.Cutoff, im.Seed)
		return err
	}
	scores, err := Logged(im)
	im.Shown = make([]int, min(im.Cutoff, len(im.Documents)))
	if err != nil || len(im.Shown) == 0 {
		return err
	}
	if err := setPolicy(p, scores, im); err != nil {
		return err
	}
	return p.Draw(plackett.Stream{Seed: im.Seed}, im.Shown)
}
