package train

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/losses"
)

// The loss on the validation split is what the loss stands for: minus the expected metric,
// exactly also where training samples it, and what fairness adds, each with its weight.
func TestLossOnValidationIsTheObjective(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		loss      string
		normalize bool
		want      func(v Values) float64
	}{
		{"plrank-exact", false, func(v Values) float64 { return -float64(v["expected-dcg@5"]) }},
		{"plrank-exact", true, func(v Values) float64 { return -float64(v["expected-ndcg@5"]) }},
		{"plrank2", true, func(v Values) float64 { return -float64(v["expected-ndcg@5"]) }},
		{"policy-gradient", true, func(v Values) float64 { return -float64(v["expected-ndcg@5"]) }},
		{"disparity(plrank2)", false, func(v Values) float64 { return float64(v["disparity"]) }},
		{"plrank-rb+0.5*disparity", false, func(v Values) float64 { return 0.5*float64(v["disparity"]) - float64(v["expected-dcg@5"]) }},
		{"2*plrank-exact+0.1*ee-l(plrank-rb)", false, func(v Values) float64 { return 0.1*float64(v["ee-l"]) - 2*float64(v["expected-dcg@5"]) }},
	} {
		c := busy("adam")
		c.Loss, c.NormalizeGains, c.Metric, c.Epochs, c.Samples = test.loss, test.normalize, "loss", 3, 10
		r := mustRun(t, mustNew(t, c, small()), Hooks{})
		best := 0
		for i, e := range r.History {
			if got, want := float64(e.Vali["loss"]), test.want(e.Vali); math.Abs(got-want) > 1e-5*max(1, math.Abs(want)) {
				t.Errorf("%s: epoch %d: the loss is %v, want %v", test.loss, e.Epoch, got, want)
			}
			if e.Vali["loss"] < r.History[best].Vali["loss"] {
				best = i
			}
		}
		if r.BestEpoch != best+1 {
			t.Errorf("%s: the best epoch is %d, the lowest loss is in %d", test.loss, r.BestEpoch, best+1)
		}
	}
}

// A model that stays as it is has the same loss in every epoch, also where the loss draws
// noise; queries of all sizes, groups, weights and losses of one's own have one.
func TestLossOnValidationIsDeterministic(t *testing.T) {
	t.Parallel()
	s := grouped(small())
	s.Vali.Weights = make([]float32, s.Vali.Rows())
	for i := range s.Vali.Weights {
		s.Vali.Weights[i] = 2
	}
	own, err := losses.Parse("softmax")
	if err != nil {
		t.Fatal(err)
	}
	for name, parts := range map[string]Custom{
		"xe-ndcg": {}, "lambdaloss": {}, "gumbel-approxndcg": {}, "listmle": {}, "mse": {}, "ordinal+group-treatment": {}, "my own": {Loss: own},
	} {
		c := Config{Objective: Objective{Loss: name, Samples: 8}, Evaluation: Evaluation{Metric: "loss"}, Optimization: Optimization{LearningRate: 1e-30, Epochs: 2}}
		tr, err := New(c.Plain(), parts, s)
		if err != nil {
			t.Fatal(err)
		}
		history := mustRun(t, tr, Hooks{}).History
		if a, b := history[0].Vali["loss"], history[1].Vali["loss"]; a != b || !(math.Abs(float64(a)) > 0) {
			t.Errorf("%s: %v, then %v", name, a, b)
		}
	}
}

// The weights of queries and the label-free ones count in the loss on validation as they do
// in training, whatever the convention of metrics is.
func TestLossOnValidationWeighsQueries(t *testing.T) {
	t.Parallel()
	s := small()
	values := map[string]Value{}
	measure := func(name string, c Config, weights []float32) {
		s.Vali.QueryWeights = weights
		c.Epochs, c.Metric, c.NormalizeGains = 1, "loss", true
		values[name] = mustRun(t, mustNew(t, c, s), Hooks{}).History[0].Vali["loss"]
	}
	two := slices.Repeat([]float32{2}, s.Vali.Queries())
	measure("plain", Config{}, nil)
	measure("twice", Config{}, two)
	measure("weighted", Config{Evaluation: Evaluation{WeightedMetrics: true}}, two)
	d := s.Vali
	free := slices.Clone(d.Labels)
	for q := range 4 {
		clear(free[d.Offsets[q]:d.Offsets[q+1]])
	}
	d.Labels = free
	for _, convention := range []string{"zero", "one", "skip"} {
		measure(convention, Config{Evaluation: Evaluation{LabelFree: convention}}, nil)
	}
	if values["twice"] != 2*values["plain"] || values["weighted"] != values["plain"] {
		t.Errorf("with weights of 2: %v", values)
	}
	if values["zero"] != values["skip"] || values["one"] != values["skip"] || values["skip"] == values["plain"] {
		t.Errorf("by convention: %v", values)
	}
}

// The ranks of several processes have the loss of one.
func TestRanksHaveOneLoss(t *testing.T) {
	t.Parallel()
	c := busy("adam")
	c.Shards, c.Epochs, c.Loss = 4, 2, "plrank-rb+0.5*disparity+0.1*xe-ndcg"
	one := mustRun(t, mustNew(t, c, small()), Hooks{})
	if _, ok := one.History[0].Vali["loss"]; !ok {
		t.Fatal("a sum of losses is not validated by the loss")
	}
	histories, _ := onEach(t, 3, c, Custom{})
	for rank, history := range histories {
		if !reflect.DeepEqual(history, timeless(one.History)) {
			t.Errorf("rank %d: %+v, want %+v", rank, history, timeless(one.History))
		}
	}
}

// A loss that is not finite is refused, and the query named.
func TestLossOnValidationIsFinite(t *testing.T) {
	mse, err := losses.Parse("mse")
	if err != nil {
		t.Fatal(err)
	}
	own := func(b losses.Batch) (*G.Node, error) {
		loss, err := mse(b)
		if err != nil {
			return nil, err
		}
		return G.Log(G.Must(G.Neg(loss)))
	}
	tr, err := New(Config{Evaluation: Evaluation{Metric: "loss"}}.Plain(), Custom{Loss: own}, small())
	if err != nil {
		t.Fatal(err)
	}
	if _, err = tr.parsed.evaluator.values(networkOf(tr), tr.data.splits.Vali); err == nil || !strings.Contains(err.Error(), `vali: metrics: measure "loss": query 0: the loss is NaN`) {
		t.Errorf("error %v", err)
	}
}
