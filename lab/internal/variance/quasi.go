package variance

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/plackett"
)

// random is a source of numbers for a stream; streams of different purposes are different.
func random(from plackett.Stream, purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(from.Seed<<20^from.Step, from.Query<<8^purpose))
}

// quasiRandom draws rankings by descending score plus Gumbel noise whose uniform numbers are
// the coordinates of a scrambled Sobol' sequence, one dimension a document. All estimators
// see the same rankings of a stream.
func (w *worker) quasiRandom(scores []float64, from plackett.Stream) error {
	if len(scores) > MostQuasiRandom {
		return fmt.Errorf("quasi-random rankings of %d documents: want %d at most", len(scores), MostQuasiRandom)
	}
	if w.quasiFrom == from && w.quasi.Documents != nil {
		return nil
	}
	w.quasiFrom = from
	documents, n, cutoff := len(scores), w.options.Samples, len(w.discounts)
	w.quasi = plackett.NewRankings(n, cutoff)
	points := make([]float64, n*documents)
	sobol(random(from, 1), n, documents, points)
	var ranked []int
	for i := range n {
		noisy := points[i*documents : (i+1)*documents]
		for d, u := range noisy {
			noisy[d] = scores[d] - math.Log(-math.Log(u))
		}
		ranked = num.DescendingOrder(ranked[:0], noisy)
		ranking := w.quasi.Documents[i*cutoff : (i+1)*cutoff]
		for k := copy(ranking, ranked); k < cutoff; k++ {
			ranking[k] = -1
		}
	}
	return nil
}
