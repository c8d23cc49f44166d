package train

import (
	"slices"
	"testing"

	"github.com/plrank/plrank/datasets"
)

// weighted gives the training split weights of documents and of queries.
func weighted(s *datasets.Splits, document, query func(i int) float32) *datasets.Splits {
	make := func(n int, f func(int) float32) (w []float32) {
		for i := 0; f != nil && i < n; i++ {
			w = append(w, f(i))
		}
		return w
	}
	s.Train.Weights, s.Train.QueryWeights = make(s.Train.Rows(), document), make(s.Train.Queries(), query)
	return s
}

// Weights multiply gradients as they say: all of 2 are a learning rate twice as high,
// documents of weight 0 have no gain, queries of weight 0 are not learnt from.
func TestWeightsOfTraining(t *testing.T) {
	t.Parallel()
	two := func(int) float32 { return 2 }
	one := func(int) float32 { return 1 }
	c := busy("sgd")
	c.Clip, c.L2, c.Dropout, c.NormalizeGains, c.Hidden = 0, 0, 0, false, nil
	final := func(c Config, s *datasets.Splits) []float32 {
		tr := mustNew(t, c, s)
		mustRun(t, tr, Hooks{})
		return tr.loop.weights
	}
	twice := c
	twice.LearningRate *= 2
	for _, loss := range []string{"plrank-rb", "softmax", "mse"} {
		c.Loss, twice.Loss = loss, loss
		plain, want := final(c, small()), final(twice, small())
		if slices.Equal(plain, want) {
			t.Fatalf("%s: the learning rate means nothing", loss)
		}
		if !slices.Equal(final(c, weighted(small(), one, one)), plain) {
			t.Errorf("%s: weights of 1 give another model", loss)
		}
		if !slices.Equal(final(c, weighted(small(), nil, two)), want) {
			t.Errorf("%s: queries of weight 2 give another model", loss)
		}
		if loss == "softmax" { // whose target is in proportion to the gains
			want = plain
		}
		if !slices.Equal(final(c, weighted(small(), two, nil)), want) {
			t.Errorf("%s: documents of weight 2 give another model", loss)
		}
	}

	// Half of the documents without weight are documents of label 0, but for which
	// queries are trained on: each keeps a relevant one in this collection.
	c.Loss = "plrank-rb"
	some := func(i int) float32 { return float32(i % 2) }
	zeros := small()
	for i := range zeros.Train.Labels {
		zeros.Train.Labels[i] *= some(i)
	}
	tr := mustNew(t, c, zeros)
	queries := tr.data.queries
	mustRun(t, tr, Hooks{})
	tr2 := mustNew(t, c, weighted(small(), some, nil))
	tr2.data.queries = queries
	mustRun(t, tr2, Hooks{})
	if !slices.Equal(tr.loop.weights, tr2.loop.weights) {
		t.Error("documents of weight 0 give another model than documents of gain 0")
	}
	none := weighted(small(), nil, func(int) float32 { return 0 })
	tr = mustNew(t, c, none)
	before := slices.Clone(tr.loop.weights)
	mustRun(t, tr, Hooks{})
	if !slices.Equal(tr.loop.weights, before) {
		t.Error("queries of weight 0 are learnt from")
	}
}

// With WeightedMetrics a query counts by its weight in the mean of a metric.
func TestWeightedMetrics(t *testing.T) {
	s := tinySplits()
	s.Test = tiny("test", []float32{0, 1}, []float32{1, 0}) // ranked by row: .63, 1
	s.Test.QueryWeights = []float32{1, 3}
	value := func(c Config) float64 {
		c.Ties = "order"
		tr := mustNew(t, c, s)
		values, err := tr.parsed.evaluator.evaluate(s.Test, []float64{2, 1, 2, 1}, tr.parsed.evaluator.measures)
		if err != nil {
			t.Fatal(err)
		}
		return float64(values["ndcg@5"])
	}
	const low = 0.6309297535714574 // 1/log2(3)
	if got, want := value(Config{}), (low+1)/2; got != want {
		t.Errorf("without weights NDCG is %v, want %v", got, want)
	}
	if got, want := value(Config{Evaluation: Evaluation{WeightedMetrics: true}}), (low+3)/4; got != want {
		t.Errorf("with weights NDCG is %v, want %v", got, want)
	}
}
