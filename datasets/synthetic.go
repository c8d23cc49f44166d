package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/plrank/plrank/datasets/internal/memory"
)

// SyntheticOptions are the sizes of the synthetic collection; zero fields mean the default.
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
// noise, on different scales: linear, logarithmic, exponential (heavy-tailed),
// as counts. Its relevance is made of products and hills of the traits, so that
// each trait alone and any linear model say little about it, plus an amount of
// noise that differs from query to query. The other 72 features are noise of all
// these kinds, constant within a query, or constant altogether.
//
// It is a pure function of the options. [SyntheticShape] makes collections of
// this kind in other shapes, at any fraction of the size of the published ones.
func Synthetic(o SyntheticOptions) *Splits {
	queries := [3]int{o.Train, o.Vali, o.Test}
	for i, n := range [3]int{800, 200, 400} {
		if queries[i] == 0 {
			queries[i] = n
		}
	}
	return splits(mslrShape.synthesize("synthetic", queries, o.Seed))
}

// SyntheticShape makes a collection like that of [Synthetic], in the shape of a
// published one: its queries by split, documents a query, number and scale of
// features, and label frequencies.
//
//	name             train    vali    test   documents a query   features   labels 0 … 4
//	mslr (or "")    18,919   6,306   6,306   118 (1 to 900)           136   .515 .325 .134 .018 .008
//	yahoo           19,944   2,994   6,983   24 (1 to 139)            700   .26  .36  .28  .08  .02
//	istella         20,897   2,322   9,799   316 (1 to 439)           220   .963 .008 .013 .009 .007
//	majority       200,000  40,000  80,000    32 (1 to 100)            40   .5   .2   .15  .1   .05
//
// Shape majority is not of a published collection: it is for models that see all documents of
// a query at once. There the relevance of a document depends on the others. In eight hidden
// traits a query's documents lie around two opposite points, 70 % of them around one, and
// those on the side of the majority are relevant. The points are drawn anew for every query,
// evenly in all directions, so that a document alone does not tell its side, whatever a
// transform says of the range of each feature in its query.
//
// Each split has the fraction scale of these queries, rounded, at least one. A name that is
// not one of [SyntheticShapes], and a scale outside (0, 1], are errors. The result is a
// pure function of the arguments; shape mslr is the collection of Synthetic with that many
// queries.
//
// Queries, features and mean lengths are those that the collections' publishers
// state: MSLR-WEB30K Fold1; set 1 of the Yahoo! Learning to Rank Challenge, 519
// of whose 700 features are in use, all in [0, 1]; Istella LETOR (full), of whose
// 23,219 training queries 10 % are the validation split, as [Open] holds them out.
// MSLR's label frequencies are right to three digits; the other two, the spread of the
// documents a query and the largest queries are approximate. One query in 40 or more has no
// relevant document.
//
// The features of a whole collection take 4 bytes each: 2.1 GB for mslr, 2.0 GB
// for yahoo and 9.2 GB for istella; while it is made, a little more.
func SyntheticShape(name string, scale float64, seed uint64) (*Splits, error) {
	s, err := shapeNamed(name)
	if err != nil {
		return nil, err
	}
	queries, err := s.scaled(scale)
	if err != nil {
		return nil, err
	}
	return splits(s.synthesize("synthetic:"+s.name, queries, seed)), nil
}

// synthetic is a split and the relevance that its labels come from.
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
		parts[i] = s.draw(name+" "+splitNames[i], seed, first, n)
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

// draw makes queries first … first+n−1 of the stream of a seed; the labels are
// still to be set.
func (s *shape) draw(name string, seed uint64, first, n int) synthetic {
	d := &Dataset{Name: name, Offsets: make([]int, 1, n+1)}
	for i := range s.features {
		d.FeatureIDs = append(d.FeatureIDs, i+1)
	}
	for q := range n {
		random := syntheticRandom(seed, first+q)
		d.Offsets = append(d.Offsets, d.Offsets[q]+s.queryLength(random))
		d.QueryIDs = append(d.QueryIDs, fmt.Sprint(first+q+1))
	}
	rows := d.Offsets[n]
	d.Labels = make([]float32, rows)
	d.Features = make([]float32, rows*s.features)
	part := synthetic{s, d, make([]float32, rows), make([]float32, rows)}
	memory.For(n, func(q int) { part.fill(q, syntheticRandom(seed, first+q)) })
	return part
}

// syntheticRandom is the random stream of a query. Its first draws are those of
// the number of documents.
func syntheticRandom(seed uint64, query int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(query)))
}

// queryLength is the number of documents of a query: log-normal up to a bound, and small
// for one query in 50.
func (s *shape) queryLength(random *rand.Rand) int {
	length := math.Exp(s.logLength + s.logSpread*random.NormFloat64())
	short := 1 + random.IntN(10)
	if random.IntN(50) == 0 {
		return short
	}
	return max(1, min(s.longest, int(length)))
}

// fill draws the documents of query q.
func (s synthetic) fill(q int, random *rand.Rand) {
	s.queryLength(random) // drawn before
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
	var all [][syntheticTraits]float64 // traits of the documents, if relevance depends on all
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
