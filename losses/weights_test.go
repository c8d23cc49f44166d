package losses_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/tensor"
	"pgregory.net/rapid"

	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/ops"
)

// run differentiates a loss of the fixture with the weights of documents and queries, nil
// for none.
func (f fixture) run(t fataler, name string, documents, queries []float64) (float64, []float64) {
	b := f.batch(tensor.Float64)
	g := b.Lists.Scores.Graph()
	b.Sampler, b.Exposure = ops.NewSampler(6, 5, 1), ops.NewSampler(20, 5, 2)
	if documents != nil {
		b.DocumentWeights = vector(g, "document weights", tensor.Float64, documents)
	}
	if queries != nil {
		b.QueryWeights = vector(g, "query weights", tensor.Float64, queries)
	}
	return differentiate(t, build(t, name, b), b.Lists.Scores)
}

func close12(a, b float64) bool { return math.Abs(a-b) <= 1e-12*(1+math.Abs(a)+math.Abs(b)) }

// A loss is linear in the weights of the queries: a query of weight 2 counts as two, one
// of weight 0 not at all, and whatever the others weigh.
func TestLossesAreLinearInQueryWeights(t *testing.T) {
	f := newFixture(normal)
	for _, name := range losses.Names() {
		_, plain := f.run(t, name, nil, nil)
		var alone [5]float64
		for q := range alone {
			only := make([]float64, 5)
			only[q] = 1
			alone[q], _ = f.run(t, name, nil, only)
		}
		for _, weights := range [][]float64{{0.5, 1, 3, 2, 1}, {2, 0, 0, 0.5, 3}} {
			value, gradient := f.run(t, name, nil, weights)
			want := 0.0
			for q, w := range weights {
				want += w * alone[q]
				for d := f.offsets[q]; d < f.offsets[q+1]; d++ {
					if !close12(gradient[d], w*plain[d]) {
						t.Errorf("%s: gradient[%d] is %v with weight %v, %v without", name, d, gradient[d], w, plain[d])
					}
				}
			}
			if !close12(value, want) {
				t.Errorf("%s: %v, the sum of weight times loss is %v", name, value, want)
			}
		}
	}
}

// What does not sample has for a query of weight 2 what it has for the query twice: four
// of five queries have documents, so five of six.
func TestWeightOfTwoIsTheQueryTwice(t *testing.T) {
	f := newFixture(normal)
	twice := f
	twice.offsets = append(slices.Clone(f.offsets), 26)
	twice.scores = append(slices.Clone(f.scores[:20]), f.scores[4:10]...)
	twice.gains = append(slices.Clone(f.gains[:20]), f.gains[4:10]...)
	twice.labels = append(slices.Clone(f.labels[:20]), f.labels[4:10]...)
	twice.groups = append(slices.Clone(f.groups[:20]), f.groups[4:10]...)
	for name := range definitions {
		if name == "listmle" {
			continue // breaks ties by chance
		}
		value, _ := f.run(t, name, nil, []float64{1, 1, 1, 2, 1})
		want, _ := twice.run(t, name, nil, nil)
		if !close12(4*value, 5*want) {
			t.Errorf("%s: %v, with the query twice %v", name, 4*value, 5*want)
		}
		absent, _ := twice.run(t, name, nil, []float64{1, 1, 1, 1, 1, 0})
		if plain, _ := f.run(t, name, nil, nil); !close12(5*absent, 4*plain) {
			t.Errorf("%s: %v with a query of weight 0, %v without it", name, 5*absent, 4*plain)
		}
	}
}

// A document's weight multiplies its gain, and its term in the losses that go by labels.
func TestDocumentWeightsMultiplyGainsOrTerms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(losses.Names()).Draw(t, "loss")
		f := newFixture(normal)
		weights := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0.5, 1, 2, 3}), 24, 24).Draw(t, "weights")
		value, gradient := f.run(t, name, weights, nil)
		multiplied := f
		multiplied.gains = slices.Clone(f.gains)
		for d, w := range weights {
			multiplied.gains[d] *= w
		}
		want, slope := multiplied.run(t, name, nil, nil)
		switch name {
		case "mse":
			want = 0
			for _, q := range []int{0, 2, 3, 4} {
				size := float64(f.offsets[q+1] - f.offsets[q])
				for d := f.offsets[q]; d < f.offsets[q+1]; d++ {
					gap := f.scores[d] - f.labels[d]
					want += weights[d] * gap * gap / size / 4
					slope[d] = 2 * weights[d] * gap / size / 4
				}
			}
		case "query-rmse": // over pairs of documents, by the product of their weights
			want = 0
			for _, q := range []int{0, 2, 3, 4} {
				all := 0.0
				for d := f.offsets[q]; d < f.offsets[q+1]; d++ {
					all += weights[d]
				}
				for d := f.offsets[q]; d < f.offsets[q+1]; d++ {
					slope[d] = 0
					for e := f.offsets[q]; e < f.offsets[q+1] && all > 0; e++ {
						gap := f.scores[d] - f.labels[d] - (f.scores[e] - f.labels[e])
						want += weights[d] * weights[e] * gap * gap / all / 2 / 4
						slope[d] += 2 * weights[d] * weights[e] * gap / all / 4
					}
				}
			}
		case "ordinal", "cross-entropy":
			for d, w := range weights {
				slope[d] *= w
			}
			want = value // its gradient says it all
		case "listnet":
			want = 0
			for _, q := range []int{0, 2, 3, 4} {
				from, to := f.offsets[q], f.offsets[q+1]
				p, target, sum := softmax(f.scores[from:to]), softmax(f.labels[from:to]), 0.0
				for d := range target {
					target[d] *= weights[from+d]
					sum += target[d]
				}
				for d := range target {
					slope[from+d] = 0
					if sum > 0 {
						want -= target[d] / sum * math.Log(p[d]) / 4
						slope[from+d] = (p[d] - target[d]/sum) / 4
					}
				}
			}
		}
		if terms, _ := losses.Terms(name); terms[0].LabelFree && !slices.Contains(old, name) {
			return // may go by labels in its own way
		}
		if !close12(value, want) {
			t.Errorf("%s: %v, want %v", name, value, want)
		}
		for d := range gradient {
			if !close12(gradient[d], slope[d]) {
				t.Errorf("%s: gradient[%d] is %v, want %v", name, d, gradient[d], slope[d])
			}
		}
	})
}

// Weights of another shape are an error when the loss is built; those that are negative or
// not finite one of the run.
func TestWeightsThatAreWrongAreErrors(t *testing.T) {
	f := newFixture(normal)
	for _, c := range []struct {
		documents, queries []float64
		build, run         string
	}{
		{documents: make([]float64, 3), build: "document weights are float64 of shape (3)"},
		{queries: make([]float64, 3), build: "query weights"},
		{documents: with(24, 5, -1), run: "query 3, row 5: the document weight is -1"},
		{documents: with(24, 5, math.NaN()), run: "query 3, row 5: the document weight is NaN"},
		{queries: with(5, 3, math.Inf(1)), run: "query 3: the query weight is +Inf"},
		{queries: with(5, 3, -2), run: "query 3: the query weight is -2"},
		{documents: with(24, 22, math.NaN()), queries: with(5, 1, math.NaN())}, // padding and an empty query
	} {
		for _, name := range losses.Names() {
			b := sampled(t, f.batch(tensor.Float64))
			g := b.Lists.Scores.Graph()
			if c.documents != nil {
				b.DocumentWeights = vector(g, "document weights", tensor.Float64, c.documents)
			}
			if c.queries != nil {
				b.QueryWeights = vector(g, "query weights", tensor.Float64, c.queries)
			}
			loss, err := meanOf(name, b)
			if c.build != "" {
				if err == nil || !strings.Contains(err.Error(), c.build) {
					t.Errorf("%s: error %v, want one with %q", name, err, c.build)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if strings.HasPrefix(name, "group-exposure") && c.documents != nil && c.run != "" {
				continue // has no use for the weights of documents
			}
			_, err = evaluated(loss)
			if c.run == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), c.run) {
				t.Errorf("%s: error %v, want one with %q", name, err, c.run)
			}
		}
	}
}

// with is n ones but for one number.
func with(n, at int, x float64) []float64 {
	s := slices.Repeat([]float64{1}, n)
	s[at] = x
	return s
}

// The parameter of query-rmse multiplies labels.
func TestQueryRMSEHasAScaleOfLabels(t *testing.T) {
	f := newFixture(normal)
	doubled := f
	doubled.labels = slices.Clone(f.labels)
	for d := range doubled.labels {
		doubled.labels[d] *= 2
	}
	want, slope := doubled.run(t, "query-rmse", nil, nil)
	if value, gradient := f.run(t, "query-rmse(2)", nil, nil); value != want || !slices.Equal(gradient, slope) {
		t.Errorf("%v %v, want %v %v as with labels twice as high", value, gradient, want, slope)
	}
	if once, _ := f.run(t, "query-rmse", nil, nil); once == want {
		t.Error("the scale changes nothing")
	}
}
