package datasets

import (
	"math"
	"math/rand/v2"
)

const syntheticTraits = 8 // hidden, of a document

// relevance is the hidden order of documents: products, hills and valleys of the
// traits, and a weak linear part.
func relevance(z [syntheticTraits]float64) float64 {
	hill := func(x float64) float64 { return math.Exp(-x * x) }
	return z[0]*z[1] + 0.8*z[2]*math.Abs(z[3]) + 1.5*hill(z[4]-0.7) - hill(z[5]) +
		0.6*math.Abs(z[6]) + 0.2*z[0] + 0.15*z[7]
}

// majority draws the traits of a query's documents, and their relevance. The documents
// lie around two opposite points, which differ from query to query, more of them around
// one than around the other. A document is the more relevant the farther it lies in the
// direction of the mean of all: on the side of the majority. All directions are equally
// likely, and each side may be that of the majority: the traits of a document alone do not
// say whether it is relevant.
func majority(random *rand.Rand, n int) (traits [][syntheticTraits]float64, latent []float64) {
	const (
		distance = 2   // of the points from 0
		spread   = 0.5 // of the documents around them, in each trait
		larger   = 0.7 // fraction of the documents that is drawn for the larger side
	)
	var point, mean [syntheticTraits]float64
	for t := range point {
		point[t] = random.NormFloat64()
	}
	scale := distance / length(point)
	traits = make([][syntheticTraits]float64, n)
	for d := range traits {
		side := scale
		if random.Float64() > larger {
			side = -scale
		}
		for t := range mean {
			traits[d][t] = side*point[t] + spread*random.NormFloat64()
			mean[t] += traits[d][t] / float64(n)
		}
	}
	for _, z := range traits {
		along := 0.0
		for t, v := range z {
			along += v * mean[t]
		}
		latent = append(latent, along/length(mean))
	}
	return traits, latent
}

func length(z [syntheticTraits]float64) float64 {
	squares := 0.0
	for _, v := range z {
		squares += v * v
	}
	return math.Sqrt(squares)
}
