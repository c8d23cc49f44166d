package train

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train/internal/batches"
)

var ctx = context.Background()

// small is a collection that one epoch takes milliseconds for: short lists of six
// features; three of them say something about the label.
func small() *datasets.Splits {
	split := func(name string, queries int, seed uint64) *datasets.Dataset {
		rng := rand.New(rand.NewPCG(seed, 0))
		d := &datasets.Dataset{Name: name, FeatureIDs: []int{1, 2, 3, 5, 8, 13}, Offsets: []int{0}}
		for q := range queries {
			for range 2 + rng.IntN(30) {
				x := [6]float64{}
				for i := range x {
					x[i] = rng.NormFloat64()
					d.Features = append(d.Features, float32(100*x[i]))
				}
				relevance := x[0] + x[1]*x[2] + 0.3*rng.NormFloat64()
				d.Labels = append(d.Labels, float32(max(0, min(4, math.Round(relevance)))))
			}
			d.Offsets = append(d.Offsets, len(d.Labels))
			d.QueryIDs = append(d.QueryIDs, fmt.Sprint(q))
		}
		return d
	}
	return &datasets.Splits{Train: split("train", 32, 1), Vali: split("vali", 12, 2), Test: split("test", 10, 3)}
}

// busy is a configuration in which everything that is random or remembered is.
func busy(optimizer string) Config {
	return Config{
		Objective:    Objective{Loss: "plrank-rb", Cutoff: 5, Samples: Dynamic, NormalizeGains: true},
		Inputs:       Inputs{Transform: "minmax+log-standard"},
		Model:        Model{Hidden: []int{8, 4}, Activation: ops.ReLU, Dropout: 0.2},
		Optimization: Optimization{Optimizer: optimizer, LearningRate: 0.01, Decay: 0.9, L2: 1e-3, Clip: 1, Batch: 5, Epochs: 3},
		Evaluation:   Evaluation{EvaluateTrain: true},
		Seed:         3,
	}
}

// mustNew is New without a recipe: what c leaves zero is plain.
func mustNew(t *testing.T, c Config, s *datasets.Splits) *Trainer {
	t.Helper()
	tr, err := New(c.Plain(), Custom{}, s)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func mustRun(t *testing.T, tr *Trainer, h Hooks) *Result {
	t.Helper()
	r, err := tr.Run(ctx, h)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// trainedWeights returns the weights of a model, one array after another.
func trainedWeights(m *ranker.Model) (weights []float32) {
	for _, a := range m.File().Arrays {
		for _, v := range a.Values {
			weights = append(weights, float32(v))
		}
	}
	return weights
}

// current is the model of a trainer as it is.
func current(t *testing.T, tr *Trainer) *ranker.Model {
	t.Helper()
	m, err := tr.Current()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// oneStep makes a step of a batch, as the loop does.
func oneStep(tr *Trainer, b *batches.Step) (float64, error) {
	s := &Step{Step: 1, Steps: 1, Number: tr.loop.steps + 1, Weights: networkOf(tr).Weights, Gradient: gradientOf(tr)}
	err := tr.loop.step(ctx, b, s)
	return s.Loss, err
}

// saveCheckpoint writes the checkpoint of the last epoch.
func saveCheckpoint(tr *Trainer, path string) error {
	c, err := tr.Checkpoint()
	if err != nil {
		return err
	}
	return c.Save(path)
}

// timeless is a history without its times.
func timeless(history []Epoch) []Epoch {
	history = slices.Clone(history)
	for i := range history {
		history[i].Seconds, history[i].TrainSeconds = 0, 0
	}
	return history
}

// The paper's losses and PL-Rank-RB learn what can be learnt: the model ranks the
// training queries better than it did at first.
func TestLossesLearn(t *testing.T) {
	t.Parallel()
	s := small()
	for _, name := range []string{"plrank1", "plrank2", "plrank-rb", "policy-gradient", "placement-policy-gradient", "lambdaloss"} {
		c := Config{
			Objective:    Objective{Loss: name, Samples: 20, NormalizeGains: true},
			Inputs:       Inputs{Transform: "log-standard"},
			Model:        Model{Hidden: []int{16}, Activation: ops.Tanh},
			Optimization: Optimization{Optimizer: "adam", LearningRate: 0.02, Batch: 4, Epochs: 8},
			Evaluation:   Evaluation{EvaluateTrain: true},
		}
		history := mustRun(t, mustNew(t, c, s), Hooks{}).History
		first, last := history[0].Train["ndcg@5"], history[len(history)-1].Train["ndcg@5"]
		if last < first+0.1 {
			t.Errorf("%s: NDCG@5 on the training split went from %.3f to %.3f", name, first, last)
		}
		// The value of a REINFORCE loss means nothing, only its gradient does.
		if e := history[len(history)-1]; !strings.HasSuffix(name, "policy-gradient") && !(e.Loss < history[0].Loss) {
			t.Errorf("%s: the loss went from %v to %v", name, history[0].Loss, e.Loss)
		}
	}
}

// trainInto runs c, and returns its history without times and its model file, as bytes.
func trainInto(t *testing.T, c Config, s *datasets.Splits) (history string, model []byte) {
	t.Helper()
	tr := mustNew(t, c, s)
	r := mustRun(t, tr, Hooks{})
	if _, err := tr.Report(r.Model); err != nil {
		t.Fatal(err)
	}
	var lines, file bytes.Buffer
	for _, e := range timeless(r.History) {
		if err := json.NewEncoder(&lines).Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Model.File().Write(&file); err != nil {
		t.Fatal(err)
	}
	return lines.String(), file.Bytes()
}

func TestSameForAnyGOMAXPROCS(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	s := small()
	for _, loss := range []string{"plrank-rb", "lambdaloss", "policy-gradient"} {
		c := busy("adam")
		c.Loss = loss
		runtime.GOMAXPROCS(1)
		history, model := trainInto(t, c, s)
		if n := strings.Count(history, "\n"); n != c.Epochs {
			t.Fatalf("%d lines for %d epochs", n, c.Epochs)
		}
		for _, n := range []int{2, 5} {
			runtime.GOMAXPROCS(n)
			again, modelAgain := trainInto(t, c, s)
			if again != history || !bytes.Equal(model, modelAgain) {
				t.Errorf("%s: another result with GOMAXPROCS %d", loss, n)
			}
		}
		c.Seed++
		if other, _ := trainInto(t, c, s); other == history {
			t.Errorf("%s: another seed, the same result", loss)
		}
	}
}

// A run that goes on from a checkpoint ends where an uninterrupted one does.
func TestResume(t *testing.T) {
	t.Parallel()
	s := small()
	for _, optimizer := range Optimizers() {
		c := busy(optimizer)
		whole := mustRun(t, mustNew(t, c, s), Hooks{})
		for stop := 1; stop < c.Epochs; stop++ {
			resumes(t, whole, c, stop, func(c Config) *Trainer { return mustNew(t, c, s) })
		}
	}
}

// resumes checks that a run that stops after an epoch, and goes on from its checkpoint,
// ends where the whole one does.
func resumes(t *testing.T, whole *Result, c Config, stop int, begin func(Config) *Trainer) (checkpoint string) {
	t.Helper()
	half := c
	half.Epochs, half.Patience = stop, 7
	first := begin(half)
	mustRun(t, first, Hooks{})
	checkpoint = filepath.Join(t.TempDir(), "c.npz")
	if err := saveCheckpoint(first, checkpoint); err != nil {
		t.Fatal(err)
	}
	second := begin(c)
	if err := second.Restore(checkpoint); err != nil {
		t.Fatal(err)
	}
	resumed := mustRun(t, second, Hooks{})
	if !reflect.DeepEqual(timeless(resumed.History), timeless(whole.History)) {
		t.Errorf("%s, stopped after epoch %d: %+v, want %+v", c.Optimizer, stop, timeless(resumed.History), timeless(whole.History))
	}
	if !slices.Equal(trainedWeights(resumed.Model), trainedWeights(whole.Model)) {
		t.Errorf("%s, stopped after epoch %d: another model", c.Optimizer, stop)
	}
	return checkpoint
}

// A run goes on with the data, the configuration and the model that it began with, or
// not at all; the error says what differs.
func TestRestoreErrors(t *testing.T) {
	t.Parallel()
	s := small()
	c := busy("sgd")
	c.Epochs = 1
	path := filepath.Join(t.TempDir(), "c.npz")
	tr := mustNew(t, c, s)
	mustRun(t, tr, Hooks{})
	if err := saveCheckpoint(tr, path); err != nil {
		t.Fatal(err)
	}
	for _, change := range []struct {
		apply func(*Config, *datasets.Splits)
		want  string // "": no error
	}{
		{func(*Config, *datasets.Splits) {}, ""},
		{func(c *Config, _ *datasets.Splits) { c.Epochs, c.Patience = 7, 5 }, ""},
		{func(_ *Config, s *datasets.Splits) { s.Vali.Name = "elsewhere" }, ""},
		{func(c *Config, _ *datasets.Splits) { c.LearningRate = 0.5 }, "another configuration: learningRate is 0.5, was 0.01"},
		{func(c *Config, _ *datasets.Splits) { c.Batch, c.Loss = 2, "plrank2" }, `another configuration: batch is 2, was 5, loss is "plrank2", was "plrank-rb"`},
		{func(_ *Config, s *datasets.Splits) { s.Train.Labels[3]++ }, "labels of the training split differ"},
		{func(_ *Config, s *datasets.Splits) { s.Train.Features[3]++ }, "feature values of the training split differ"},
		{func(_ *Config, s *datasets.Splits) { s.Vali.Labels[0]++; s.Vali.QueryIDs[1] = "x" }, "labels, queries of the validation split differ"},
		{func(_ *Config, s *datasets.Splits) { s.Test.Features[0]++ }, "feature values of the test split differ"},
		{func(_ *Config, s *datasets.Splits) { s.Test = nil }, "the test split, which is missing now differ"},
		{func(_ *Config, s *datasets.Splits) { s.Train.Weights = make([]float32, s.Train.Rows()) }, "weights of the training split differ"},
	} {
		other, data := c, small()
		change.apply(&other, data)
		err := mustNew(t, other, data).Restore(path)
		if change.want == "" && err != nil || change.want != "" && (err == nil || !strings.Contains(err.Error(), change.want)) {
			t.Errorf("got %v, want %q", err, change.want)
		}
	}
	best, err := tr.Best()
	if err == nil {
		err = best.Save(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := mustNew(t, c, s).Restore(path); err == nil || !strings.Contains(err.Error(), `"plrank model"`) {
		t.Errorf("a model file: %v", err)
	}
	if err := mustNew(t, c, s).Restore(path + "x"); err == nil {
		t.Error("no file: no error")
	}
}

// Cancelling in the middle of an epoch keeps what the epochs before have found,
// and leaves no goroutine behind.
func TestInterruption(t *testing.T) {
	s := small()
	c := busy("adam")
	whole := mustRun(t, mustNew(t, c, s), Hooks{})
	before := runtime.NumGoroutine()
	for _, stop := range []struct{ epoch, step int }{{1, 1}, {1, 3}, {3, 2}} {
		cancelled, cancel := context.WithCancel(ctx)
		tr := mustNew(t, c, s)
		r, err := tr.Run(cancelled, Hooks{Step: func(p Step) {
			if p.Epoch == stop.epoch && p.Step == stop.step {
				cancel()
			}
		}})
		if err != nil || !r.Interrupted {
			t.Fatalf("%+v, %v", r, err)
		}
		if fmt.Sprint(timeless(r.History)) != fmt.Sprint(timeless(whole.History[:stop.epoch-1])) {
			t.Errorf("stopped in epoch %d: history %+v", stop.epoch, r.History)
		}
		if stop.epoch == 1 && (r.BestEpoch != 0 || !slices.Equal(trainedWeights(r.Model), networkOf(tr).Weights)) {
			t.Error("stopped in the first epoch: the model is not the one of the last step")
		}
		if _, err := datasets.Score(r.Model, s.Test); err != nil {
			t.Error(err)
		}
	}
	for end := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) { // those that have been told to end need a moment
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// The ranker of the result is the one of the best epoch, and patience ends a run.
func TestBestEpochAndPatience(t *testing.T) {
	t.Parallel()
	s := small()
	c := busy("adam")
	c.Epochs, c.Patience, c.LearningRate = 60, 3, 0.05
	tr := mustNew(t, c, s)
	r := mustRun(t, tr, Hooks{})
	if len(r.History) == c.Epochs || len(r.History) != r.BestEpoch+c.Patience {
		t.Errorf("%d epochs, the best is %d, patience %d", len(r.History), r.BestEpoch, c.Patience)
	}
	best := -1.
	for _, e := range r.History {
		v := float64(e.Vali["ndcg@5"])
		if e.Best != (v > best) {
			t.Errorf("epoch %d: best is %t for %v after %v", e.Epoch, e.Best, v, best)
		}
		best = max(best, v)
	}
	values, err := tr.parsed.evaluator.values(modelScoring{r.Model}, s.Vali)
	if err != nil || float64(values["ndcg@5"]) != best {
		t.Errorf("the ranker's validation value is %v, want %v (%v)", values["ndcg@5"], best, err)
	}
}

func TestHookErrorEndsTraining(t *testing.T) {
	stop := errors.New("no space left")
	_, err := Run(ctx, busy("sgd").Plain(), small(), Hooks{Epoch: func(*Trainer, Epoch) error { return stop }})
	if !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

// tiny is a collection of queries of the given labels; feature 1 is the label,
// feature 2 its negative, feature 3 the row.
func tiny(name string, labels ...[]float32) *datasets.Dataset {
	d := &datasets.Dataset{Name: name, FeatureIDs: []int{1, 2, 3}, Offsets: []int{0}}
	for q, list := range labels {
		for _, l := range list {
			d.Features = append(d.Features, l, -l, float32(len(d.Labels)%7))
			d.Labels = append(d.Labels, l)
		}
		d.Offsets = append(d.Offsets, len(d.Labels))
		d.QueryIDs = append(d.QueryIDs, fmt.Sprintf("q%d", q+1))
	}
	return d
}

func tinySplits() *datasets.Splits {
	return &datasets.Splits{
		Train: tiny("train", []float32{0, 1, 2}, []float32{0, 0}, []float32{1}, []float32{2, 0, 0, 1}, []float32{0}),
		Vali:  tiny("vali", []float32{1, 0, 2, 0}, []float32{0, 0}),
		Test:  tiny("test", []float32{0, 1}, []float32{0, 0, 0}),
	}
}

func TestLabelFreeQueriesAreNotTrainedOn(t *testing.T) {
	tr := mustNew(t, Config{Optimization: Optimization{Batch: 2}}, tinySplits())
	if !slices.Equal(tr.data.Queries, []int{0, 2, 3}) {
		t.Errorf("trains on %v", tr.data.Queries)
	}
	steps := 0
	r := mustRun(t, tr, Hooks{Step: func(s Step) { steps = s.Steps }})
	if steps != 2 || r.History[0].Steps != 2 {
		t.Errorf("%d steps for three queries, two a step", steps)
	}
	tr = mustNew(t, Config{Evaluation: Evaluation{DropLabelFreeTest: true}}, tinySplits())
	if tr.data.splits.Test.Queries() != 1 || tr.data.splits.Vali.Queries() != 2 {
		t.Errorf("test %v, vali %v", tr.data.splits.Test, tr.data.splits.Vali)
	}
}

func TestNormalizedGains(t *testing.T) {
	tr := mustNew(t, Config{Objective: Objective{NormalizeGains: true, Cutoff: 2}}, tinySplits())
	// The first query: gains 0, 1, 3; its ideal DCG@2 is 3/log2(2) + 1/log2(3).
	ideal := 3 + 1/math.Log2(3)
	for i, want := range []float64{0, 1 / ideal, 3 / ideal, 0, 0, 1} {
		if math.Abs(float64(tr.data.Gains[i])-want) > 1e-6 {
			t.Errorf("gain of row %d is %v, want %v", i, tr.data.Gains[i], want)
		}
	}
	tr = mustNew(t, Config{Objective: Objective{Gain: "linear"}}, tinySplits())
	if !slices.Equal(tr.data.Gains[:3], []float32{0, 1, 2}) {
		t.Errorf("linear gains %v", tr.data.Gains[:3])
	}
}

func TestNewErrors(t *testing.T) {
	free := tiny("free.txt", []float32{0, 0}, []float32{0})
	wide := tiny("wide", []float32{1, 0})
	wide.FeatureIDs = []int{1, 2, 4}
	nan := tiny("nan.txt", []float32{1, 0})
	nan.Labels[1] = float32(math.NaN())
	huge := tiny("huge.txt", []float32{1, 0, 77})
	short, beyond := tiny("short.txt", []float32{1, 0}, []float32{0, 1}), tiny("beyond.txt", []float32{1, 0}, []float32{0, 1})
	short.Labels = short.Labels[:3]
	beyond.Offsets[1] = 1000
	if _, err := New(Config{}.Plain(), Custom{}, nil); err == nil || err.Error() != "train: no splits" {
		t.Errorf("got %v without splits", err)
	}
	for _, c := range []struct {
		change func(*Config, *datasets.Splits)
		want   string
	}{
		{func(c *Config, s *datasets.Splits) { s.Train = nil }, "the training split is empty"},
		{func(c *Config, s *datasets.Splits) { s.Train = tiny("x") }, "the training split is empty"},
		{func(c *Config, s *datasets.Splits) { s.Vali = nil }, "the validation split is empty"},
		{func(c *Config, s *datasets.Splits) { s.Test = tiny("x") }, "the test split is empty"},
		{func(c *Config, s *datasets.Splits) { s.Train = free }, "no query of the training split free.txt has a relevant document"},
		{func(c *Config, s *datasets.Splits) { s.Vali = free }, "no query of the validation split free.txt has a relevant document"},
		{func(c *Config, s *datasets.Splits) { c.Gain, s.Train = "binary", tiny("half.txt", []float32{0.5, 0}) }, "no query of the training split half.txt has a relevant document, of label 1 or more"},
		{func(c *Config, s *datasets.Splits) { s.Vali = wide }, "wide has other feature ids than train: 4 is not one of these 3"},
		{func(c *Config, s *datasets.Splits) { s.Train = nan }, "nan.txt: row 1: the label is NaN"},
		{func(c *Config, s *datasets.Splits) { s.Train = short }, "short.txt: offsets must ascend from 0 to the "},
		{func(c *Config, s *datasets.Splits) { s.Test = beyond }, "beyond.txt: offsets must ascend from 0 to the "},
		{func(c *Config, s *datasets.Splits) { s.Train = huge }, `use the gain "linear"`},
		{func(c *Config, s *datasets.Splits) { c.Transform = "x" }, `unknown transform "x"`},
		{func(c *Config, s *datasets.Splits) { c.Loss = "x" }, "the nearest of"},
	} {
		config, s := Config{}, tinySplits()
		c.change(&config, s)
		if _, err := New(config.Plain(), Custom{}, s); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want one line with %q", err, c.want)
		}
	}
}

// What is not finite ends the run, with the step and the query that caused it.
func TestNonFiniteTrainingStops(t *testing.T) {
	s := tinySplits()
	for i := s.Train.Offsets[3]; i < s.Train.Offsets[4]; i++ {
		s.Train.Row(i)[0] *= 3e38 // the scores of query q4 overflow
	}
	tr := mustNew(t, Config{Inputs: Inputs{Transform: "none"}, Optimization: Optimization{Batch: 3, Epochs: 1}, Model: Model{Hidden: []int{16}, Activation: ops.ReLU}}, s)
	for i := range networkOf(tr).Weights {
		networkOf(tr).Weights[i] = 2
	}
	_, err := tr.Run(ctx, Hooks{})
	if err == nil || !strings.Contains(err.Error(), "epoch 1, step 1, query q4 of train: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("huge features: %v", err)
	}
	_, err = Run(ctx, Config{Optimization: Optimization{LearningRate: 1e39}}.Plain(), tinySplits(), Hooks{}) // beyond float32
	if err == nil || !strings.Contains(err.Error(), "train: epoch 1, step ") || !strings.Contains(err.Error(), ", query q") {
		t.Errorf("a huge learning rate: %v", err)
	}
}

// A batch of more queries than there are is all of them: the same weights, and no more memory, by losses that sample too.
func TestBatchIsAtMostTheTrainingSplit(t *testing.T) {
	t.Parallel()
	train := func(batch int) []float32 {
		c := Config{}.Plain()
		c.Loss, c.Samples, c.Batch, c.Epochs, c.Hidden = "plrank2", 5, batch, 3, []int{3}
		tr := mustNew(t, c, sized(6, 4))
		mustRun(t, tr, Hooks{})
		return slices.Clone(networkOf(tr).Model.Weights().Float32s())
	}
	want := train(6)
	for _, batch := range []int{7, 200_000_000, mostQueries} {
		if got := train(batch); !slices.Equal(got, want) {
			t.Errorf("a batch of %d: weights %v, want %v", batch, got, want)
		}
	}
}
