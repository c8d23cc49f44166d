//go:build !race

package ranker

import (
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
		attending(t, "minmax+log-standard+quantile", "float32", d, 3, 2, 2, true, 64),
	} {
		checkAllocations(t, d, reopen(t, f))
	}
}

func checkAllocations(t *testing.T, d *datasets.Dataset, m *Model) {
	t.Helper()
	scores, ranking, exposure := make([]float64, 0, 100), make([]int, 0, 100), make([]float64, 0, 100)
	discounts := []float64{1, 1, 1, 1, 1}
	seed := uint64(0)
	if n := testing.AllocsPerRun(200, func() {
		seed++
		scores, _ = m.Score(scores[:0], d.Features)
		ranking = Rank(ranking[:0], scores)
		ranking, _, _ = Draw(ranking[:0], scores, 10, seed)
		exposure, _ = Exposure(exposure[:0], scores, discounts)
	}); n >= 1 {
		t.Errorf("%s: %v allocations", m.file.Kind, n)
	}
}
