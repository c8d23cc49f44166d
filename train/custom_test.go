package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/plackett"
	"github.com/plrank/plrank/ranker"
)

// listModel is a model of one's own whose scores depend on the list: x·w + b, and the
// sum of that over the documents of the query.
type listModel struct {
	weights *nn.Weights
	Seed    uint64 `json:"seed"`
}

func newListModel(seed uint64) func(features int) (nn.Scorer, error) {
	return func(features int) (nn.Scorer, error) {
		w, err := nn.NewWeights(tensor.Float32, nn.Array{Name: "w", Shape: []int{features}}, nn.Array{Name: "b", Shape: []int{1}, Bias: true})
		if err != nil {
			return nil, err
		}
		rng := rand.New(rand.NewPCG(seed, 0))
		initial := make([]float64, features)
		for i := range initial {
			initial[i] = 0.01 * rng.NormFloat64()
		}
		return &listModel{w, seed}, w.Set("w", initial)
	}
}

func (m *listModel) Weights() *nn.Weights { return m.weights }
func (m *listModel) Kind() string         { return "list-model" }
func (m *listModel) Settings() any        { return m }

func (m *listModel) Build(in nn.Input, _ nn.Mode) (*G.Node, error) {
	scores, err := ops.Dense(in.Features, in.Weights[0], in.Weights[1], ops.Identity)
	if err != nil {
		return nil, err
	}
	l := ops.Lists{Scores: scores, Offsets: in.Offsets}
	logs, err := ops.LogSoftmax(l)
	if err != nil {
		return nil, err
	}
	return G.Add(scores, logs)
}

func readListModel(settings []byte, stored *nn.Weights) (nn.Scorer, error) {
	m := &listModel{weights: stored}
	return m, json.Unmarshal(settings, m)
}

// heavy is an optimizer of one's own: it goes along the sum of all gradients, in steps
// that become shorter.
type heavy struct{ sum []float32 }

func (o *heavy) Step(w, g []float32, learningRate float64, n uint64) {
	for i := range w {
		o.sum[i] += g[i]
		w[i] -= float32(learningRate/math.Sqrt(float64(n))) * o.sum[i]
	}
}

func (o *heavy) State() map[string][]float32 { return map[string][]float32{"sum": o.sum} }

// firstRelevant is a measure of one's own: 1 where the document of the highest score
// has the highest label, and 0 elsewhere.
var firstRelevant = metrics.NewMeasure("first", false, func(in metrics.Queries) ([]float64, error) {
	var values []float64
	for q := range len(in.Offsets) - 1 {
		from, to := in.Offsets[q], in.Offsets[q+1]
		best := metrics.Rank(in.Scores[from:to])[0]
		values = append(values, 0)
		if in.Labels[from+best] == slices.Max(in.Labels[from:to]) {
			values[q] = 1
		}
	}
	return values, nil
})

func ownParts() Custom {
	return Custom{
		Loss: func(b losses.Batch) (*G.Node, error) {
			return losses.Expected(losses.DCG, losses.Sampled(plackett.PLRankRB)).Build(b)
		},
		Scorer:    newListModel(7),
		Optimizer: func(weights int) Optimizer { return &heavy{make([]float32, weights)} },
		Metrics:   []metrics.Measure{firstRelevant},
	}
}

func ownConfig() Config {
	return Config{
		Objective:    Objective{Loss: "mine", Samples: 50, NormalizeGains: true},
		Inputs:       Inputs{Transform: "log-standard"},
		Evaluation:   Evaluation{Metric: "first", Report: []string{"first", "map"}, EvaluateTrain: true},
		Optimization: Optimization{LearningRate: 0.003, Batch: 4, Epochs: 6},
	}
}

// A loss, a model that sees lists, an optimizer and a measure of one's own learn, are
// validated and reported, go on from a checkpoint to the same end, and come back from
// a model file.
func TestOwnParts(t *testing.T) {
	t.Parallel()
	nn.Register("list-model", readListModel)
	s := small()
	build := func(c Config) *Trainer {
		tr, err := New(c.Plain(), ownParts(), s)
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	tr := build(ownConfig())
	untrained, err := datasets.Score(current(t, tr), s.Test)
	if err != nil {
		t.Fatal(err)
	}
	whole := mustRun(t, tr, Hooks{})
	first, last := whole.History[0], whole.History[len(whole.History)-1]
	if !(last.Train["ndcg@5"] > first.Train["ndcg@5"]+0.05) || !(last.Loss < first.Loss) {
		t.Errorf("NDCG@5 on the training split went from %v to %v, the loss from %v to %v", first.Train["ndcg@5"], last.Train["ndcg@5"], first.Loss, last.Loss)
	}
	best := whole.History[0].Vali["first"]
	for i, e := range whole.History {
		if i > 0 && e.Best != (e.Vali["first"] > best) {
			t.Errorf("epoch %d: best %t, %v after %v", e.Epoch, e.Best, e.Vali["first"], best)
		}
		best = max(best, e.Vali["first"])
	}

	path := resumes(t, whole, ownConfig(), 2, build)
	other := ownParts()
	other.Scorer = newListModel(8)
	if tr, err := New(ownConfig().Plain(), other, s); err != nil || tr.Restore(path) == nil {
		t.Error("another model went on from the checkpoint", err)
	}

	report, err := tr.Report(whole.Model)
	if err != nil {
		t.Fatal(err)
	}
	rows := report.Splits[2]
	if v := rows.Value(len(rows.Rankers)-1, "first"); !(v > 0 && v <= 1) || rows.Rankers[len(rows.Rankers)-1] != "mine" {
		t.Errorf("%v has %v", rows.Rankers, v)
	}

	if err := whole.Model.Save(path); err != nil {
		t.Fatal(err)
	}
	back, err := ranker.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := datasets.Score(whole.Model, s.Test)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := datasets.Score(back, s.Test); err != nil || !slices.Equal(got, want) || slices.Equal(got, untrained) {
		t.Errorf("the file scores otherwise: %v", err)
	}
	// A score depends on the documents of its query, and of no other.
	for q := range s.Test.Queries() {
		alone, err := datasets.Score(back, s.Test.Select([]int{q}))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range alone {
			if math.Abs(v-want[s.Test.Offsets[q]+i]) > 1e-5 {
				t.Fatalf("query %d alone: %v, want %v", q, alone, want[s.Test.Offsets[q]:s.Test.Offsets[q+1]])
			}
		}
	}
}

// Custom parts have names in what a run keeps, and what means nothing with them is gone.
func TestNamesOfParts(t *testing.T) {
	c := Default()
	c.Metric, c.Blocks, c.Heads = "", 3, 4
	tr, err := New(c.Plain(), ownParts(), small())
	if err != nil {
		t.Fatal(err)
	}
	if c := tr.Config; c.Loss != "custom" || c.Optimizer != "custom" || c.Hidden != nil || c.Dropout != 0 || c.Members != 0 || c.Blocks != 1 || c.Heads != 2 {
		t.Errorf("%+v", c)
	}
	c.Loss, c.Optimizer = "mine", "mine too"
	if tr, err = New(c.Plain(), ownParts(), small()); err != nil || tr.Config.Loss != "mine" || tr.Config.Optimizer != "mine too" {
		t.Errorf("%+v, %v", tr.Config, err)
	}
	if want := "list-model, "; !strings.Contains(tr.Architecture(), want) {
		t.Errorf("%q, want %q", tr.Architecture(), want)
	}
}

func TestPartsErrors(t *testing.T) {
	scorer := func(f func(features int) (nn.Scorer, error)) func(*Custom) { return func(p *Custom) { p.Scorer = f } }
	weights := func(dt tensor.Dtype, shapes ...int) nn.Scorer {
		var arrays []nn.Array
		for i, n := range shapes {
			arrays = append(arrays, nn.Array{Name: fmt.Sprint(i), Shape: []int{n}})
		}
		w, err := nn.NewWeights(dt, arrays...)
		if err != nil {
			t.Fatal(err)
		}
		return &listModel{weights: w}
	}
	size := 0
	for _, c := range []struct {
		change func(*Custom)
		want   string
	}{
		{scorer(func(int) (nn.Scorer, error) { return nil, errors.New("no luck") }), "Custom.Scorer: no luck"},
		{scorer(func(int) (nn.Scorer, error) { return nil, nil }), "gives no model"},
		{scorer(func(int) (nn.Scorer, error) { return weights(tensor.Float32), nil }), "has 0 weights"},
		{scorer(func(int) (nn.Scorer, error) { return weights(tensor.Float64, 3), nil }), "3 weights of float64, want one or more of float32"},
		{scorer(func(int) (nn.Scorer, error) { size++; return weights(tensor.Float32, size), nil }), "other weights each time"},
		{func(p *Custom) { p.Optimizer = func(int) Optimizer { return nil } }, "Custom.Optimizer gives none"},
		{func(p *Custom) { p.Metrics = []metrics.Measure{{}} }, "measure 0 of Custom.Metrics has no name"},
		{func(p *Custom) { p.Metrics = append(p.Metrics, firstRelevant) }, `another measure "first"`},
		{func(p *Custom) { p.Metrics = []metrics.Measure{metrics.NewMeasure("ndcg@5", false, nil)} }, `another measure "ndcg@5"`},
		{func(p *Custom) { p.Metrics = nil }, `"first"`},
	} {
		p := ownParts()
		c.change(&p)
		if _, err := New(ownConfig().Plain(), p, small()); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want one line with %q", err, c.want)
		}
	}
	// What a part does wrong later ends the run with an error that says where.
	for name, c := range map[string]struct {
		change func(*Custom)
		want   string
	}{
		"a loss that is not of queries": {func(p *Custom) {
			p.Loss = func(b losses.Batch) (*G.Node, error) { return b.Lists.Scores, nil }
		}, ""},
		"a loss that does not depend on the scores": {func(p *Custom) {
			p.Loss = func(b losses.Batch) (*G.Node, error) { return G.Sum(b.Gains) }
		}, ""},
		"a loss that is nil": {func(p *Custom) {
			p.Loss = func(losses.Batch) (*G.Node, error) { return nil, nil }
		}, "the loss gives no node"},
		"a model without scores": {scorer(func(int) (nn.Scorer, error) {
			return silentModel{weights(tensor.Float32, 3).(*listModel)}, nil
		}), "the model gives no scores"},
	} {
		p := ownParts()
		c.change(&p)
		tr, err := New(ownConfig().Plain(), p, small())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tr.Run(ctx, Hooks{}); err == nil || !strings.Contains(err.Error(), "epoch 1, step 1") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A silentModel gives no scores.
type silentModel struct{ *listModel }

func (silentModel) Build(nn.Input, nn.Mode) (*G.Node, error) { return nil, nil }

// An optimizer whose state is not finite: a checkpoint could be written, but not read.
func TestStateThatIsNotFinite(t *testing.T) {
	p := ownParts()
	p.Optimizer = func(weights int) Optimizer {
		sum := make([]float32, weights)
		sum[1] = float32(math.Inf(1))
		return &heavy{sum}
	}
	tr, err := New(ownConfig().Plain(), p, small())
	if err != nil {
		t.Fatal(err)
	}
	if err := saveCheckpoint(tr, filepath.Join(t.TempDir(), "c.npz")); err == nil || !strings.Contains(err.Error(), `array "optimizer-sum": entry 1 is +Inf`) {
		t.Errorf("error %v", err)
	}
}

// A trainer that runs cannot be run again at the same time.
func TestRunWhileRunning(t *testing.T) {
	tr, err := New(Config{Optimization: Optimization{Epochs: 1}}.Plain(), Custom{}, small())
	if err != nil {
		t.Fatal(err)
	}
	var second error
	if _, err := tr.Run(ctx, Hooks{Step: func(Step) { _, second = tr.Run(ctx, Hooks{}) }}); err != nil {
		t.Fatal(err)
	}
	if second == nil || !strings.Contains(second.Error(), "running already") {
		t.Errorf("error %v", second)
	}
}

// Training begins with the weights and the transform of a model that it is given, and
// refuses one that does not fit.
func TestInitialModel(t *testing.T) {
	t.Parallel()
	s := small()
	first := mustRun(t, mustNew(t, busy("adam"), s), Hooks{}).Model
	path := filepath.Join(t.TempDir(), "m.npz")
	if err := first.Save(path); err != nil {
		t.Fatal(err)
	}
	other := small()
	for i := range other.Train.Features {
		other.Train.Features[i] *= 3 // other data have another transform
	}
	build := func(c Config) (*Trainer, error) {
		r, err := ranker.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return New(c.Plain(), Custom{Initial: r}, other)
	}
	tr, err := build(busy("sgd"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := datasets.Score(first, s.Test)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := datasets.Score(current(t, tr), s.Test); err != nil || !slices.Equal(got, want) {
		t.Errorf("training begins elsewhere: %v", err)
	}
	before := slices.Clone(networkOf(tr).Weights)
	mustRun(t, tr, Hooks{})
	if slices.Equal(networkOf(tr).Weights, before) {
		t.Error("nothing was trained")
	}
	for _, refused := range []struct {
		want   string
		change func(*Config)
	}{
		{"another architecture than the one to train (hidden 8 5 (relu)", func(c *Config) { c.Hidden = []int{8, 5} }},
		{"another architecture than the one to train (2 networks", func(c *Config) { c.Members = 2 }},
		{"the transform of the initial model is minmax+log-standard", func(c *Config) { c.Transform = "minmax" }},
		{"test has other feature ids than the initial model: 21 is not", func(*Config) {
			for _, d := range []*datasets.Dataset{other.Train, other.Vali, other.Test} {
				d.FeatureIDs[5], d.Name = 21, "test"
			}
		}},
	} {
		c := busy("sgd")
		refused.change(&c)
		if _, err := build(c); err == nil || !strings.Contains(err.Error(), refused.want) {
			t.Errorf("got %v, want %q", err, refused.want)
		}
	}
}

// Any reward of rankings can be learnt from: here the expected reciprocal rank.
func TestRewardLearns(t *testing.T) {
	t.Parallel()
	c := Config{
		Objective:    Objective{Samples: 50},
		Inputs:       Inputs{Transform: "log-standard"},
		Model:        Model{Hidden: []int{16}, Activation: ops.Tanh},
		Optimization: Optimization{Optimizer: "adam", LearningRate: 0.01, Batch: 4, Epochs: 16},
		Evaluation:   Evaluation{EvaluateTrain: true, Report: []string{"err@5"}},
	}
	tr, err := New(c.Plain(), Custom{Loss: losses.Reward(func(gains []float64) float64 {
		sum, reading := 0.0, 1.0
		for k, gain := range gains {
			stop := gain / 16
			sum += reading * stop / float64(k+1)
			reading *= 1 - stop
		}
		return sum
	}).Build}, small())
	if err != nil {
		t.Fatal(err)
	}
	history := mustRun(t, tr, Hooks{}).History
	first, last := history[0], history[len(history)-1]
	if !(last.Train["err@5"] > first.Train["err@5"]+0.05) || !(last.Loss < first.Loss-0.05) {
		t.Errorf("ERR@5 on the training split went from %.3f to %.3f, the loss from %.3f to %.3f", first.Train["err@5"], last.Train["err@5"], first.Loss, last.Loss)
	}
}
