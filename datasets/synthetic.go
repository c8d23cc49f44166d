package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// SyntheticOptions sizes the synthetic collection; zero fields mean the default.
type SyntheticOptions struct {
	Train, Vali, Test int    // queries; 0: 800, 200 and 400
	Seed              uint64 // another seed, another collection of the same kind
}

// Synthetic makes a collection in the shape of MSLR-WEB30K: 136 features with
// ids 1 to 136, from −70 to 1e8 and down to 1e-9, queries of some 120 documents
// (1 to 900), grades 0 to 4 with the frequencies .515, .325, .134, .018, .008,
// some queries without a relevant document and some with a single document.
//
// Each document has eight hidden traits, which 64 of the features show through
// noise, on scales of their own: linear, logarithmic, exponential (heavy-tailed),
// as counts. Its relevance is made of products and hills of the traits, so that
// each trait alone and any linear model say little about it, plus an amount of
// noise that differs from query to query. The other 72 features are noise of all
// these kinds, constant within a query, or constant altogether.
//
// It is a pure function of the options. [SyntheticShape] makes collections of
// this kind in other shapes, of any part of the size of the published ones.
func Synthetic(o SyntheticOptions) *Splits {
	queries := [3]int{o.Train, o.Vali, o.Test}
	for i, n := range [3]int{800, 200, 400} {
		if queries[i] == 0 {
			queries[i] = n
		}
	}
	return splits(mslrShape.synthesize("synthetic", queries, o.Seed))
}

// synthetic is a split and what its labels come from.
type synthetic struct {
	*shape
	data   *Dataset
	latent []float32 // [rows] relevance before noise
	noisy  []float32 // [rows] relevance as it is graded
}

func splits(parts [3]synthetic) *Splits {
	return &Splits{Train: parts[0].data, Vali: parts[1].data, Test: parts[2].data}
}

// synthesize makes a split of each number of queries.
func (s *shape) synthesize(name string, queries [3]int, seed uint64) [3]synthetic {
	var parts [3]synthetic
	first := 0
	for i, n := range queries {
		parts[i] = s.draw(name+" "+[3]string{"train", "vali", "test"}[i], seed, first, n)
		first += n
	}
	// Grades cut the relevance of all training documents at these frequencies.
	ordered := slices.Sorted(slices.Values(parts[0].noisy))
	var least []float32 // relevance from which on the grade is 1, 2, 3, 4
	for _, below := range s.below {
		least = append(least, ordered[int(below*float64(len(ordered)))])
	}
	for _, p := range parts {
		for r, s := range p.noisy {
			grade := 0
			for grade < len(least) && s >= least[grade] {
				grade++
			}
			p.data.Labels[r] = float32(grade)
		}
	}
	return parts
}

const syntheticTraits = 8 // hidden, of a document

// draw makes queries first … first+n−1 of the stream of a seed; the labels are
// still to be set.
func (s *shape) draw(name string, seed uint64, first, n int) synthetic {
	d := &Dataset{Name: name, Offsets: make([]int, 1, n+1)}
	for i := range s.features {
		d.FeatureIDs = append(d.FeatureIDs, i+1)
	}
	for q := range n {
		random := syntheticRandom(seed, first+q)
		d.Offsets = append(d.Offsets, d.Offsets[q]+s.listLength(random))
		d.QueryIDs = append(d.QueryIDs, fmt.Sprint(first+q+1))
	}
	rows := d.Offsets[n]
	d.Labels = make([]float32, rows)
	d.Features = make([]float32, rows*s.features)
	part := synthetic{s, d, make([]float32, rows), make([]float32, rows)}
	parallel(n, func(q int) { part.fill(q, syntheticRandom(seed, first+q)) })
	return part
}

// syntheticRandom is the random stream of a query. Its first draws are those of
// the number of documents.
func syntheticRandom(seed uint64, query int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(query)))
}

// listLength is the number of documents of a query: log-normal up to a bound, and small
// for one query in 50.
func (s *shape) listLength(random *rand.Rand) int {
	length := math.Exp(s.logLength + s.logSpread*random.NormFloat64())
	short := 1 + random.IntN(10)
	if random.IntN(50) == 0 {
		return short
	}
	return max(1, min(s.longest, int(length)))
}

// fill draws the documents of query q.
func (s synthetic) fill(q int, random *rand.Rand) {
	s.listLength(random) // drawn before
	var shift [syntheticTraits]float64
	for t := range shift {
		shift[t] = 0.4 * random.NormFloat64()
	}
	own := make([]float64, s.queryFeatures)
	for i := range own {
		own[i] = random.NormFloat64()
	}
	difficulty := 0.4 + 1.2*random.Float64()
	bias := 0.6 * random.NormFloat64()
	if random.IntN(40) == 0 {
		bias = -1000 // no relevant document
	}

	views := syntheticTraits * s.traitViews
	first, end := s.data.Offsets[q], s.data.Offsets[q+1]
	var all [][syntheticTraits]float64 // traits of the documents, where relevance depends on all
	var latents []float64
	if s.together != nil {
		all, latents = s.together(random, end-first)
	}
	for r := first; r < end; r++ {
		row := s.data.Row(r)
		var z [syntheticTraits]float64
		var latent float64
		if s.together != nil {
			z, latent = all[r-first], latents[r-first]
		} else {
			for t := range z {
				z[t] = shift[t] + random.NormFloat64()
			}
			latent = relevance(z)
		}
		s.latent[r] = float32(latent)
		s.noisy[r] = float32(latent + difficulty*random.NormFloat64() + bias)
		for i := range row {
			// Traits, query features and noise take turns, so that no block
			// of neighbouring columns is all signal.
			column := i * s.stride % s.features
			switch {
			case column < views:
				row[i] = s.show(column, z[column%syntheticTraits]+0.5*random.NormFloat64())
			case column < views+s.queryFeatures:
				row[i] = s.show(column, own[column-views])
			case column >= s.features-s.zeroFeatures:
				row[i] = 0
			default:
				row[i] = s.show(column, random.NormFloat64())
			}
		}
	}
}

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
		larger   = 0.7 // part of the documents that is drawn for the larger side
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
