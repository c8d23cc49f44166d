package ranker

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/internal/testkit"
)

// Requests of 1 to 2000 documents, short ones more often, on all cores: scores, rankings,
// draws and propensities take no more memory in the end than after the first tenth.
func TestMemoryStaysSteadyOnAllCores(t *testing.T) {
	const most = 2000
	d := queries(5, most)
	m := reopen(t, network(t, "minmax+log-standard+quantile", "float32", d, 3, 8)) // small: a million requests take a minute
	testkit.Steady(t, 1000, func(from, to int) {
		type space struct {
			scores, exposure []float64
			ranking          []int
		}
		spaces := make([]space, runtime.GOMAXPROCS(0))
		if err := parallel.Each(to-from, len(spaces), func(worker, i int) error {
			s := &spaces[worker]
			rng := rand.New(rand.NewPCG(uint64(from+i), 0))
			rows := int(math.Pow(most, rng.Float64()))
			var err error
			if s.scores, err = m.Score(s.scores[:0], d.Features[:rows*5]); err != nil {
				return err
			}
			s.ranking = Rank(s.ranking[:0], s.scores)
			if i%50 > 0 {
				return nil
			}
			if s.ranking, _, err = (Policy{}).Draw(s.ranking[:0], s.scores, 10, uint64(i)); err == nil {
				s.exposure, err = Policy{}.Exposure(context.Background(), s.exposure[:0], s.scores, []float64{1, 1, 1, 1, 1})
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	})
}
