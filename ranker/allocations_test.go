//go:build !race

package ranker

import (
	"context"
	"math"
	"testing"

	"github.com/plrank/plrank/datasets"
)

// Scores, rankings, draws and exposures allocate nothing where the slices have room. (With the race
// detector a sync.Pool forgets now and then.)
func TestScoringAllocatesNothing(t *testing.T) {
	d := queries(46, 100)
	binned := network(t, "minmax+quantile", "float32", d, 1, 64)
	withBins(t, binned, d, 16)
	for _, f := range []*File{
		binned,
		network(t, "minmax+log-standard+quantile", "float32", d, 3, 64),
		attending(t, "minmax+log-standard+quantile", "float32", d, 3, 2, 2, 64),
	} {
		checkAllocations(t, d, reopen(t, f))
	}
}

func checkAllocations(t *testing.T, d *datasets.Dataset, m *Model) {
	t.Helper()
	scores, ranking, exposure := make([]float64, 0, 100), make([]int, 0, 100), make([]float64, 0, 100)
	discounts := []float64{1, 1, 1, 1, 1}
	long, whole := make([]float64, 1000), make([]float64, 1000) // a list whose ranks all count
	for k := range whole {
		long[k], whole[k] = float64(k%7), 1/math.Log2(float64(k+2))
	}
	shares := make([]float64, 0, len(long))
	seed := uint64(0)
	if n := testing.AllocsPerRun(200, func() {
		seed++
		scores, _ = m.Score(scores[:0], d.Features)
		ranking = Rank(ranking[:0], scores)
		ranking, _, _ = Policy{}.Draw(ranking[:0], scores, 10, seed)
		exposure, _ = Policy{}.Exposure(context.Background(), exposure[:0], scores, discounts)
		shares, _ = Policy{}.Exposure(context.Background(), shares[:0], long, whole)
	}); n >= 1 {
		t.Errorf("%s: %v allocations", m.file.Kind, n)
	}
}
