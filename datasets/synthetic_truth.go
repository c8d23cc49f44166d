package datasets

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/internal/names"
)

// SyntheticTruths returns the names of the truths that [SyntheticShape] takes after the shape.
func SyntheticTruths() (names []string) {
	for _, t := range truths {
		names = append(names, t.name)
	}
	return names
}

// truth is what labels come from before noise: the sum of parts of one standard deviation.
type truth struct {
	name  string
	parts []func(s *shape, random *rand.Rand) relevance
}

// relevance is a function of the features of a document, and of its relevance by the traits.
type relevance func(row []float32, byTraits float64) float64

var truths = []*truth{
	{"smooth", nil}, // by the traits, as it is
	{"trees", []func(*shape, *rand.Rand) relevance{forestSize{150, 5}.grow}},
	{"additive", []func(*shape, *rand.Rand) relevance{forestSize{300, 1}.grow}}, // trees of one question are steps
	{"mixture", []func(*shape, *rand.Rand) relevance{traitsAlone, forestSize{150, 5}.grow, forestSize{300, 1}.grow}},
}

const (
	truthQueries  = 50   // in which standard deviations are taken: the first of the stream of a seed
	truthSpread   = 1.38 // standard deviation of the sum of the parts, if they do not correlate; the noise has 1.06
	forestColumns = 60   // features that a forest has questions about
)

// shapeAndTruth finds both by a name such as mslr/trees. Without a shape it is mslr, and without a truth, smooth.
func shapeAndTruth(name string) (*shape, *truth, error) {
	name, kind, given := strings.Cut(name, "/")
	if !given {
		kind = truths[0].name
	}
	s, t := slices.Index(SyntheticShapes(), cmp.Or(name, shapes[0].name)), slices.Index(SyntheticTruths(), kind)
	switch {
	case s < 0:
		return nil, nil, fmt.Errorf("datasets: no synthetic shape %q: %s", name, names.Want(name, SyntheticShapes()))
	case t < 0:
		return nil, nil, fmt.Errorf("datasets: no truth %q of synthetic shapes: %s", kind, names.Want(kind, SyntheticTruths()))
	}
	return shapes[s], truths[t], nil
}

// relevance is how relevant the documents of a seed are, however large they are.
func (t *truth) relevance(s *shape, seed uint64) relevance {
	alone := traitsAlone(nil, nil)
	if t.parts == nil {
		return alone
	}
	sample := s.draw(alone, "", seed, 0, truthQueries)
	parts, weights := make([]relevance, len(t.parts)), make([]float64, len(t.parts))
	for i, grow := range t.parts {
		// Streams of queries count from 0, these downwards from the last.
		parts[i] = grow(s, rand.New(rand.NewPCG(seed, math.MaxUint64-uint64(i))))
		values := make([]float64, len(sample.latent))
		for r, byTraits := range sample.latent {
			values[r] = parts[i](sample.data.Row(r), float64(byTraits))
		}
		weights[i] = truthSpread / math.Sqrt(float64(len(parts))) / stat.StdDev(values, nil)
	}
	return func(row []float32, byTraits float64) (sum float64) {
		for i, part := range parts {
			sum += weights[i] * part(row, byTraits)
		}
		return sum
	}
}

func traitsAlone(*shape, *rand.Rand) relevance {
	return func(_ []float32, byTraits float64) float64 { return byTraits }
}

// forestSize is the number of trees and the questions on the way to a leaf.
type forestSize struct{ trees, depth int }

// forest is a sum of trees.
type forest []tree

// tree is a binary tree with all leaves at one depth. The children of node i are nodes
// 2i+1 and 2i+2, and leaves follow the nodes that have a question.
type tree struct {
	questions []question
	leaves    []float64
}

// question leads to the second child where the feature is above the threshold.
type question struct {
	feature   int
	threshold float32
}

// grow draws trees on some features of a shape that are not always 0. A threshold is the feature's
// value of a standard normal number, as features are drawn.
func (o forestSize) grow(s *shape, random *rand.Rand) relevance {
	var features []int
	for _, i := range random.Perm(s.features) {
		if s.column(i) < s.features-s.zeroFeatures && len(features) < forestColumns {
			features = append(features, i)
		}
	}
	f := make(forest, o.trees)
	for i := range f {
		f[i] = tree{make([]question, 1<<o.depth-1), make([]float64, 1<<o.depth)}
		for q := range f[i].questions {
			feature := features[random.IntN(len(features))]
			f[i].questions[q] = question{feature, s.show(s.column(feature), random.NormFloat64())}
		}
		for l := range f[i].leaves {
			f[i].leaves[l] = random.NormFloat64()
		}
	}
	return func(row []float32, _ float64) float64 { return f.value(row) }
}

// value is the sum of the leaves that a document gets to.
func (f forest) value(row []float32) (sum float64) {
	for _, t := range f {
		at := 0
		for at < len(t.questions) {
			q := t.questions[at]
			at = 2*at + 1
			if row[q.feature] > q.threshold {
				at++
			}
		}
		sum += t.leaves[at-len(t.questions)]
	}
	return sum
}
