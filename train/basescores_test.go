package train

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train/internal/batches"
)

// based gives the documents of all splits the base scores of f, a function of dataset and row.
func based(s *datasets.Splits, f func(d *datasets.Dataset, row int) float32) *datasets.Splits {
	for _, d := range []*datasets.Dataset{s.Train, s.Vali, s.Test} {
		d.BaseScores = make([]float32, d.Rows())
		for row := range d.BaseScores {
			d.BaseScores[row] = f(d, row)
		}
	}
	return s
}

// atRandom are base scores that say nothing.
func atRandom(_ *datasets.Dataset, row int) float32 {
	return float32(rand.New(rand.NewPCG(1, uint64(row))).NormFloat64())
}

// A network of zeros, one alone or several, scores as the base does; any other adds to it, and
// graph, ranker and model file do so with the same bits.
func TestScoresAreAddedToBaseScores(t *testing.T) {
	t.Parallel()
	for _, members := range []int{1, 3} {
		s := based(small(), atRandom)
		plain := small()
		c := busy("adam")
		c.Members = members
		tr := mustNew(t, c, s)
		if !strings.HasSuffix(tr.Architecture(), ", added to base scores") {
			t.Error(tr.Architecture())
		}
		trained := mustRun(t, tr, Hooks{}).Model
		path := filepath.Join(t.TempDir(), "m.npz")
		if err := trained.Save(path); err != nil {
			t.Fatal(err)
		}
		again, err := ranker.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		alone := *again.File() // the same network by itself
		alone.BaseScores = false
		network, err := ranker.New(&alone)
		if err != nil {
			t.Fatal(err)
		}
		want, err := datasets.Score(network, plain.Test)
		if err != nil {
			t.Fatal(err)
		}
		for row := range want {
			want[row] += float64(s.Test.BaseScores[row])
		}
		for _, model := range []scoring{modelScoring{trained}, modelScoring{again}} {
			if got, err := model.Score(s.Test, s.Test.Blocks(chunkRows)); err != nil || !slices.Equal(got, want) {
				t.Errorf("%d members: other scores, %v", members, err)
			}
		}
		if _, err := datasets.Score(again, plain.Test); err == nil || !strings.Contains(err.Error(), "0 base scores for") {
			t.Errorf("error %v", err)
		}

		clear(networkOf(tr).Model.Weights().Float32s())
		got, err := networkOf(tr).Score(s.Test, s.Test.Blocks(chunkRows))
		if err != nil || !slices.Equal(got, baseScores(s.Test)) {
			t.Errorf("%d members of zeros: other scores than the base, %v", members, err)
		}
		report, err := tr.Report(trained)
		if err != nil {
			t.Fatal(err)
		}
		for _, split := range report.Splits {
			if n := len(split.Rankers); split.Rankers[n-2] != "base scores" {
				t.Errorf("%s: rankers %q", split.Name, split.Rankers)
			}
		}
		zeros, err := tr.parsed.evaluator.values(networkOf(tr), s.Test)
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range report.Splits[2].Rows[2] {
			if zeros[name] != v {
				t.Errorf("%s of base scores is %v, and %v of a network of zeros", name, v, zeros[name])
			}
		}
	}
}

// Only differences of scores matter: a base score of 0 changes no bit of the weights, one for all
// documents of a query hardly any.
func TestBaseScoresThatAreConstantChangeNothing(t *testing.T) {
	t.Parallel()
	c := busy("sgd")
	c.Members, c.Dropout = 2, 0
	for _, loss := range []string{"plrank-exact", "softmax", "lambdaloss"} {
		c.Loss = loss
		final := func(s *datasets.Splits) []float32 {
			tr := mustNew(t, c, s)
			mustRun(t, tr, Hooks{})
			return networkOf(tr).Weights
		}
		plain := final(small())
		if !slices.Equal(final(based(small(), func(*datasets.Dataset, int) float32 { return 0 })), plain) {
			t.Errorf("%s: base scores of 0 give another model", loss)
		}
		ofQuery := func(d *datasets.Dataset, row int) float32 { // by the number of its query
			q, found := slices.BinarySearch(d.Offsets, row)
			if !found {
				q--
			}
			return float32(q%7) - 3
		}
		for i, w := range final(based(small(), ofQuery)) {
			if math.Abs(float64(w-plain[i])) > 1e-4*(1+math.Abs(float64(plain[i]))) {
				t.Fatalf("%s: weight %d is %v, without base scores %v", loss, i, w, plain[i])
			}
		}
	}
}

// Where the base is right already, with gaps of hundreds, there is nothing to learn: the gradient
// is all but 0, and the ranking stays.
func TestTrainingOnARightBaseStays(t *testing.T) {
	t.Parallel()
	c := busy("sgd")
	c.Loss, c.L2, c.GroupLasso, c.Epochs = "plrank-exact", 0, 0, 3
	right := func(d *datasets.Dataset, row int) float32 { return 300 * d.Labels[row] }
	tr := mustNew(t, c, based(small(), right))
	before := slices.Clone(networkOf(tr).Weights)
	result := mustRun(t, tr, Hooks{})
	for i, w := range networkOf(tr).Weights {
		if math.Abs(float64(w-before[i])) > 1e-6 {
			t.Fatalf("weight %d went from %v to %v", i, before[i], w)
		}
	}
	for _, e := range result.History {
		if !(e.Vali["ndcg@5"] > 0.999) {
			t.Errorf("epoch %d: NDCG is %v", e.Epoch, e.Vali["ndcg@5"])
		}
	}
}

// The gradient of a step is the gradient of the loss of network and base together, by finite differences
// of what validation measures: for a network by itself, and one with attention.
func TestGradientOnBaseScores(t *testing.T) {
	t.Parallel()
	for _, scorer := range []string{"mlp", "attention"} {
		c := Config{Seed: 3, Objective: Objective{Loss: "plrank-exact"}, Evaluation: Evaluation{Metric: "loss"}}
		c.Scorer, c.Hidden, c.Members, c.Batch, c.Dropout = scorer, []int{4}, 1, 1000, 0
		s := based(small(), atRandom)
		tr := mustNew(t, c, s)
		order := tr.data.Queries
		var b batches.Step
		tr.loop.batches.PackStep(&b, order, 0)
		b.Next = func() {}
		if _, err := networkOf(tr).Compute(ctx, &b, 0); err != nil {
			t.Fatal(err)
		}
		gradient := slices.Clone(gradientOf(tr))
		loss := func() float64 {
			values, err := tr.parsed.evaluator.values(networkOf(tr), s.Train)
			if err != nil {
				t.Fatal(err)
			}
			return float64(values["loss"])
		}
		largest := 0.
		for _, g := range gradient {
			largest = max(largest, math.Abs(float64(g)))
		}
		w := networkOf(tr).Model.Weights().Float32s()
		for i := 0; i < len(w); i += 7 {
			const h = 1e-2
			old := w[i]
			w[i] = old + h
			up := loss()
			w[i] = old - h
			down := loss()
			w[i] = old
			if got, want := float64(gradient[i]), (up-down)/(2*h); math.Abs(got-want) > 0.01*largest {
				t.Errorf("%s: weight %d: gradient %v, by differences %v", scorer, i, got, want)
			}
		}
	}
}

// A run that goes on has the same bits, and other base scores are other data.
func TestResumedRunOnBaseScores(t *testing.T) {
	t.Parallel()
	half := func(d *datasets.Dataset, row int) float32 { return d.Row(row)[0] / 2 }
	c := busy("adam")
	c.Epochs = 4
	whole := mustNew(t, c, based(small(), half))
	want := mustRun(t, whole, Hooks{})
	c.Epochs = 2
	first := mustNew(t, c, based(small(), half))
	mustRun(t, first, Hooks{})
	path := filepath.Join(t.TempDir(), "checkpoint")
	if err := saveCheckpoint(first, path); err != nil {
		t.Fatal(err)
	}
	c.Epochs = 4
	second := mustNew(t, c, based(small(), half))
	if err := second.Restore(path); err != nil {
		t.Fatal(err)
	}
	if got := mustRun(t, second, Hooks{}); !slices.Equal(networkOf(second).Weights, networkOf(whole).Weights) || got.Model.Digest() != want.Model.Digest() {
		t.Error("other weights after a resume")
	}
	for _, other := range []*datasets.Splits{small(), based(small(), atRandom)} {
		if err := mustNew(t, c, other).Restore(path); err == nil || !strings.Contains(err.Error(), "base scores of the training split") {
			t.Errorf("error %v", err)
		}
	}
}

// All splits have base scores, or none, and so do an initial model and its data; one that fits
// goes on.
func TestBaseScoresOfSomeSplitsAreRefused(t *testing.T) {
	t.Parallel()
	one := func(*datasets.Dataset, int) float32 { return 1 }
	for _, lack := range []func(s *datasets.Splits){
		func(s *datasets.Splits) { s.Train.BaseScores = nil },
		func(s *datasets.Splits) { s.Vali.BaseScores = nil },
		func(s *datasets.Splits) { s.Test.BaseScores = nil },
	} {
		s := based(small(), one)
		lack(s)
		if _, err := New(Config{}.Plain(), Custom{}, s); err == nil || !strings.Contains(err.Error(), "has base scores, but") {
			t.Errorf("error %v", err)
		}
	}
	c := busy("adam")
	c.Epochs = 1
	begin := mustRun(t, mustNew(t, c, based(small(), atRandom)), Hooks{}).Model
	if _, err := New(c.Plain(), Custom{Initial: begin}, small()); err == nil || !strings.Contains(err.Error(), "base scores: initial model true") {
		t.Errorf("error %v", err)
	}
	if _, err := New(c.Plain(), Custom{Initial: initialModel(t, c)}, based(small(), one)); err == nil || !strings.Contains(err.Error(), "base scores: initial model false") {
		t.Errorf("error %v", err)
	}
	on, err := New(c.Plain(), Custom{Initial: begin}, based(small(), atRandom))
	if err != nil {
		t.Fatal(err)
	}
	if r := mustRun(t, on, Hooks{}); r.Initial == nil {
		t.Error("the initial model is not measured")
	}
}
