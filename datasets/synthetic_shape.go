package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// SyntheticShapes returns the names of the shapes that [SyntheticShape] makes.
func SyntheticShapes() (names []string) {
	for _, s := range shapes {
		names = append(names, s.name)
	}
	return names
}

// shape is what distinguishes synthetic collections.
type shape struct {
	name    string
	queries [3]int // of the whole collection: training, validation, test

	logLength, logSpread float64 // mean and standard deviation of the logarithm of the documents a query
	longest              int

	features      int
	traitViews    int // features that show a trait
	queryFeatures int // features that are constant within a query
	zeroFeatures  int // features that are always 0
	stride        int // from one column to the next; without a common divisor with features

	below [4]float64 // fraction of the labels that is below 1, 2, 3, 4

	// documents gives a function that draws the traits and the relevance of one document
	// after another of a query of n.
	documents func(random *rand.Rand, middle traits, n int) func() (z traits, latent float64)

	// show maps a value of standard normal size to the scale of a feature.
	// Higher values are never shown as lower ones.
	show func(column int, v float64) float32
}

var shapes = []*shape{
	{
		name: "mslr", queries: [3]int{18919, 6306, 6306},
		logLength: 4.6, logSpread: 0.62, longest: 900,
		features: 136, traitViews: 8, queryFeatures: 8, zeroFeatures: 4, stride: 53,
		below:     [4]float64{.515, .84, .974, .992},
		documents: independent, show: showRaw,
	},
	{
		name: "yahoo", queries: [3]int{19944, 2994, 6983},
		logLength: 3.08, logSpread: 0.5, longest: 139,
		features: 700, traitViews: 30, queryFeatures: 24, zeroFeatures: 181, stride: 253,
		below:     [4]float64{.26, .62, .90, .98},
		documents: independent, show: showNormalised,
	},
	{
		name: "istella", queries: [3]int{20897, 2322, 9799},
		logLength: 5.835, logSpread: 0.6, longest: 439,
		features: 220, traitViews: 12, queryFeatures: 12, zeroFeatures: 8, stride: 83,
		below:     [4]float64{.963, .971, .984, .993},
		documents: independent, show: showRaw,
	},
	{
		name: "majority", queries: [3]int{200000, 40000, 80000},
		logLength: 3.4, logSpread: 0.4, longest: 100,
		features: 40, traitViews: 3, queryFeatures: 4, zeroFeatures: 2, stride: 11,
		below:     [4]float64{.5, .7, .85, .95},
		documents: majority, show: showNormalised,
	},
}

// scaled is the number of queries of each split at a scale.
func (s *shape) scaled(scale float64) (queries [3]int, err error) {
	if !(scale > 0 && scale <= 1) { // NaN is refused, too
		return queries, fmt.Errorf("datasets: scale %v of a synthetic collection: want the fraction of its queries, above 0 and at most 1", scale)
	}
	for i, n := range s.queries {
		queries[i] = max(1, int(math.Round(scale*float64(n))))
	}
	return queries, nil
}

// column tells what feature i shows: a trait, the query, noise or nothing, in this order.
// They take turns, so that no block of neighbouring features is all signal.
func (s *shape) column(i int) int { return i * s.stride % s.features }

// showRaw makes features of eight kinds as they come out of a search engine.
func showRaw(column int, v float64) float32 {
	size := float64(1 + column*7%10) // features of one kind differ in size
	switch column / 8 % 8 {
	case 0:
		return float32(size * v)
	case 1:
		return float32(math.Min(1.6e8, size*math.Exp(3*v))) // heavy-tailed
	case 2:
		return float32(math.Floor(math.Exp(1 + v))) // a count, as of terms
	case 3:
		return float32(math.Min(0, math.Max(-72.9, -20+(10+size)*v))) // a log-probability
	case 4:
		return float32(1 / (1 + math.Exp(-2*v)))
	case 5:
		return float32(1e-9 * size * math.Exp(2*v)) // tiny
	case 6:
		return float32(size * math.Max(0, v-0.3)) // sparse
	default:
		return float32(math.Round(1000*size+300*v*size) * 100) // large, like a page's size
	}
}

// showNormalised makes features in [0, 1], as by the cumulative distribution of
// values that are continuous, few, often 0, or yes and no.
func showNormalised(column int, v float64) float32 {
	u := 0.5 * math.Erfc(-v/math.Sqrt2)
	switch column / 8 % 8 {
	case 0, 1, 2, 3:
		return float32(u)
	case 4, 5:
		return float32(math.Floor(10*u) / 10)
	case 6:
		if u < 0.7 {
			return 0
		}
		return float32(u)
	default:
		return float32(math.Floor(2 * math.Min(u, 0.99)))
	}
}
