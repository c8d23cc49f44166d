package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
)

// initialModel is a model that was trained a little.
func initialModel(t *testing.T, c Config) *ranker.Model {
	t.Helper()
	return mustRun(t, mustNew(t, c, small()), Hooks{}).Model
}

// A run that only makes its initial model worse ends with it.
func TestInitialModelIsKeptIfNoEpochIsBetter(t *testing.T) {
	t.Parallel()
	c := busy("adam")
	c.Loss, c.Patience, c.Epochs = "plrank-exact", 2, 4
	begin := initialModel(t, c)
	for _, average := range []float64{0, 0.5} {
		c.LearningRate, c.Epochs, c.Average = 5, 4, average
		tr, err := New(c.Plain(), Custom{Initial: begin}, small())
		if err != nil {
			t.Fatal(err)
		}
		var seen Values
		r := mustRun(t, tr, Hooks{Initial: func(v Values) error { seen = v; return nil }})
		if r.BestEpoch != 0 || !slices.Equal(trainedWeights(r.Model), trainedWeights(begin)) {
			t.Errorf("average %v: the best epoch is %d", average, r.BestEpoch)
		}
		if len(r.History) != 2 {
			t.Errorf("%d epochs with patience for 2", len(r.History))
		}
		want, err := tr.parsed.evaluator.values(modelScoring{begin}, tr.data.splits.Vali)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(r.Initial, want) || !reflect.DeepEqual(seen, want) {
			t.Errorf("the initial model has %v, the hook got %v, want %v", r.Initial, seen, want)
		}
	}
	// Interrupted before the first epoch has ended, it is the initial one, too.
	tr, err := New(c.Plain(), Custom{Initial: begin}, small())
	if err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(ctx)
	r, err := tr.Run(stopped, Hooks{Step: func(s Step) {
		if s.Step == 3 {
			stop()
		}
	}})
	if err != nil || !r.Interrupted || !slices.Equal(trainedWeights(r.Model), trainedWeights(begin)) {
		t.Errorf("interrupted in the first epoch: %v", err)
	}
}

// A score of the validation that is not finite names its document.
func TestScoresThatAreNotFinite(t *testing.T) {
	s := small()
	tr, err := New(Default(), Custom{}, s)
	if err != nil {
		t.Fatal(err)
	}
	weights := networkOf(tr).Model.Weights().Float32s()
	for i := range weights {
		weights[i] = math.MaxFloat32
	}
	_, err = networkOf(tr).Score(s.Vali, s.Vali.Blocks(chunkRows))
	if err == nil || !strings.HasPrefix(err.Error(), s.Vali.Where(0)+": the score is ") {
		t.Errorf("got %v", err)
	}
}

// Within an epoch there is nothing to go on from: a checkpoint of half an epoch would be taken for one of a
// whole, as would a second run of the trainer.
func TestWithinAnEpochIsNoCheckpoint(t *testing.T) {
	s, c := small(), Default()
	c.Epochs = 2
	fresh := func() *Trainer {
		tr, err := New(c, Custom{}, s)
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	whole, err := fresh().Run(ctx, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	tr, path := fresh(), filepath.Join(t.TempDir(), "checkpoint.npz")
	stopped, stop := context.WithCancel(ctx)
	if _, err := tr.Run(stopped, Hooks{
		Step: func(s Step) {
			if s.Epoch == 2 && s.Step == 2 {
				stop()
			}
		},
		Epoch: func(tr *Trainer, _ Epoch) error { return saveCheckpoint(tr, path) },
	}); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("train: stopped inside epoch 2, after step %d: ", whole.History[0].Steps+2)
	if _, err := tr.Checkpoint(); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := tr.Run(ctx, Hooks{}); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := tr.Restore(path); err != nil {
		t.Fatal(err)
	}
	r, err := tr.Run(ctx, Hooks{})
	if err != nil || !reflect.DeepEqual(timeless(r.History), timeless(whole.History)) {
		t.Errorf("%v: restored, got %v, want %v", err, r.History, whole.History)
	}
}

// A validation value that is undefined in every epoch ends the training at the first, with
// an error that says why, on all ranks.
func TestUndefinedValidationIsAnError(t *testing.T) {
	t.Parallel()
	s := grouped(small())
	for i := range s.Vali.Groups {
		s.Vali.Groups[i] = 1
	}
	own := metrics.NewMeasure("mine", false, func(in metrics.Queries) ([]float64, error) {
		values := make([]float64, len(in.Offsets)-1)
		for i := range values {
			values[i] = math.NaN()
		}
		return values, nil
	})
	infinite := metrics.NewMeasure("infinite", false, func(in metrics.Queries) ([]float64, error) {
		return slices.Repeat([]float64{math.Inf(1)}, len(in.Offsets)-1), nil
	})
	for _, test := range []struct {
		config Config
		parts  Custom
		want   string
	}{
		{Config{Evaluation: Evaluation{Metric: "exposure-ratio"}}, Custom{}, "epoch 1, after step 30: the validation value exposure-ratio is not defined on any of the 12 queries of vali: none has documents of two groups that count: no epoch"},
		{Config{Evaluation: Evaluation{Metric: "ndcg@5+exposure-ratio"}}, Custom{}, "the validation value exposure-ratio"},
		{Config{Evaluation: Evaluation{Metric: "mine"}}, Custom{Metrics: []metrics.Measure{own}}, "mine is not defined"},
		{Config{Evaluation: Evaluation{Metric: "infinite"}}, Custom{Metrics: []metrics.Measure{infinite}}, "infinite is +Inf"},
	} {
		epochs := 0
		tr, err := New(test.config.Plain(), test.parts, s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tr.Run(ctx, Hooks{Epoch: func(*Trainer, Epoch) error { epochs++; return nil }}); err == nil || epochs > 0 || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v after %d epochs, want an error with %q", test.config.Metric, err, epochs, test.want)
		}
	}
	half := small()
	for i, label := range half.Vali.Labels {
		half.Vali.Labels[i] = min(label, 0.5)
	}
	if _, err := Run(ctx, Config{Evaluation: Evaluation{Metric: "map"}, Optimization: Optimization{Epochs: 1}}.Plain(), half, Hooks{}); err == nil || !strings.Contains(err.Error(), "relevance begins at label 1, and no label is as high") {
		t.Errorf("MAP without a label of 1: %v", err)
	}
	none := grouped(small())
	clear(none.Vali.Labels)
	if _, err := Run(ctx, Config{Objective: Objective{Loss: "group-exposure"}, Evaluation: Evaluation{Metric: "ndcg@5"}, Optimization: Optimization{Epochs: 1}}.Plain(), none, Hooks{}); err == nil || !strings.Contains(err.Error(), "none has a relevant document") {
		t.Errorf("NDCG without a relevant document: %v", err)
	}
	for rank, err := range testkit.OnRanks(2, func(g mpi.Group) error {
		tr, err := New(Config{Evaluation: Evaluation{Metric: "exposure-ratio"}, Optimization: Optimization{Shards: 2}}.Plain(), Custom{Processes: g}, s)
		if err != nil {
			return err
		}
		_, err = tr.Run(ctx, Hooks{})
		return err
	}) {
		var agreed mpi.Agreed
		if !errors.As(err, &agreed) || !strings.Contains(err.Error(), "exposure-ratio is not defined") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	if _, err := Importances(ctx, Config{Evaluation: Evaluation{Metric: "exposure-ratio"}}.Plain(), Custom{}, model(t, mustRun(t, mustNew(t, Config{Optimization: Optimization{Epochs: 1}}, s), Hooks{})), s.Vali, 1); err == nil || !strings.Contains(err.Error(), "exposure-ratio is NaN") {
		t.Errorf("importances by a metric that is not defined: %v", err)
	}
	// One that is undefined once is never the best.
	calls := 0
	once := metrics.NewMeasure("once", false, func(in metrics.Queries) ([]float64, error) {
		calls++
		v := slices.Repeat([]float64{1 / float64(calls)}, len(in.Offsets)-1)
		if calls == 2 {
			v = slices.Repeat([]float64{math.NaN()}, len(v))
		}
		return v, nil
	})
	tr, err := New(Config{Evaluation: Evaluation{Metric: "once"}, Optimization: Optimization{Epochs: 3}}.Plain(), Custom{Metrics: []metrics.Measure{once}}, s)
	if err != nil {
		t.Fatal(err)
	}
	if r := mustRun(t, tr, Hooks{}); r.BestEpoch != 1 {
		t.Errorf("the best epoch is %d", r.BestEpoch)
	}
}
