package train

import (
	"slices"
	"strconv"
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
// documents and queries of weight 0 are not learnt from.
func TestWeightsOfTraining(t *testing.T) {
	t.Parallel()
	two := func(int) float32 { return 2 }
	one := func(int) float32 { return 1 }
	c := busy("sgd")
	c.Clip, c.L2, c.Dropout, c.NormalizeGains, c.Hidden, c.Epochs, c.EvaluateTrain = 0, 0, 0, false, nil, 1, false
	final := func(c Config, s *datasets.Splits) []float32 {
		tr := mustNew(t, c, s)
		mustRun(t, tr, Hooks{})
		return networkOf(tr).Weights
	}
	twice := c
	twice.LearningRate *= 2
	for _, loss := range []string{"plrank-rb", "softmax", "mse", "lambdarank", "ranknet", "ee-l", "approxndcg"} {
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
		if !slices.Equal(final(c, weighted(small(), two, nil)), want) {
			t.Errorf("%s: documents of weight 2 give another model", loss)
		}
	}

	for _, loss := range []string{"plrank-rb", "softmax", "mse", "lambdarank"} {
		c.Loss = loss
		tr := mustNew(t, c, weighted(small(), func(int) float32 { return 0 }, nil))
		before := slices.Clone(networkOf(tr).Weights)
		mustRun(t, tr, Hooks{})
		if !slices.Equal(networkOf(tr).Weights, before) {
			t.Errorf("%s: documents of weight 0 are learnt from", loss)
		}
	}
	c.Loss = "plrank-rb"
	none := weighted(small(), nil, func(int) float32 { return 0 })
	tr := mustNew(t, c, none)
	before := slices.Clone(networkOf(tr).Weights)
	mustRun(t, tr, Hooks{})
	if !slices.Equal(networkOf(tr).Weights, before) {
		t.Error("queries of weight 0 are learnt from")
	}
}

// Documents of grade 4 are ranked above documents of grade 1, however little they weigh.
func TestWeightsDoNotReversePreferences(t *testing.T) {
	t.Parallel()
	split := func(name string) *datasets.Dataset {
		d := &datasets.Dataset{Name: name, FeatureIDs: []int{1, 2}, Offsets: []int{0}}
		for q := range 10 {
			for _, label := range []float32{1, 4, 0, 1, 4} {
				d.Features = append(d.Features, label, float32((q*7+len(d.Labels)*3)%5))
				d.Labels = append(d.Labels, label)
				d.Weights = append(d.Weights, map[float32]float32{0: 1, 1: 1, 4: .01}[label])
			}
			d.Offsets, d.QueryIDs = append(d.Offsets, len(d.Labels)), append(d.QueryIDs, name+strconv.Itoa(q))
		}
		return d
	}
	s := &datasets.Splits{Train: split("train"), Vali: split("vali")}
	for _, loss := range []string{Default().Loss, "plrank-exact", "ranknet", "hinge", "listmle", "softmax", "listnet", "lambdarank", "approxndcg"} {
		c := Config{Objective: Objective{Loss: loss, Cutoff: 5}, Optimization: Optimization{Optimizer: "adam", LearningRate: .03, Batch: 5, Epochs: 40}}
		tr := mustNew(t, c, s)
		mustRun(t, tr, Hooks{})
		scores, err := current(t, tr).Score(nil, []float32{1, 2, 4, 2})
		if err != nil {
			t.Fatal(err)
		}
		if !(scores[1] > scores[0]) {
			t.Errorf("%s: scores %v of documents of grades 1 and 4", loss, scores)
		}
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
