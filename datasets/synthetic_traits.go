package datasets

import (
	"math"
	"math/rand/v2"
)

// traits of a document are hidden.
type traits [8]float64

func (z traits) dot(y traits) (sum float64) {
	for t, v := range z {
		sum += v * y[t]
	}
	return sum
}

// independent draws documents around the middle of their query, whatever the others are.
// Their relevance is products, hills and valleys of the traits, and a weak linear part.
func independent(random *rand.Rand, middle traits, _ int) func() (traits, float64) {
	hill := func(x float64) float64 { return math.Exp(-x * x) }
	return func() (z traits, latent float64) {
		for t := range z {
			z[t] = middle[t] + random.NormFloat64()
		}
		return z, z[0]*z[1] + 0.8*z[2]*math.Abs(z[3]) + 1.5*hill(z[4]-0.7) - hill(z[5]) +
			0.6*math.Abs(z[6]) + 0.2*z[0] + 0.15*z[7]
	}
}

// majority draws documents around two opposite points, which differ from query to query, more
// of them around one than around the other. A document is the more relevant the farther it
// lies in the direction of the mean of all: on the side of the majority. All directions are
// equally likely, and each side may be the majority: the traits of a document alone do
// not say whether it is relevant.
func majority(random *rand.Rand, _ traits, n int) func() (traits, float64) {
	const (
		distance = 2   // of the points from 0
		spread   = 0.5 // of the documents around them, in each trait
		larger   = 0.7 // fraction of the documents that is drawn for the larger side
	)
	var point, mean traits
	for t := range point {
		point[t] = random.NormFloat64()
	}
	scale := distance / math.Sqrt(point.dot(point))
	all := make([]traits, n)
	for d := range all {
		side := scale
		if random.Float64() > larger {
			side = -scale
		}
		for t := range mean {
			all[d][t] = side*point[t] + spread*random.NormFloat64()
			mean[t] += all[d][t] / float64(n)
		}
	}
	length := math.Sqrt(mean.dot(mean))
	return func() (traits, float64) {
		z := all[0]
		all = all[1:]
		return z, z.dot(mean) / length
	}
}
