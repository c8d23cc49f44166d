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

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/train/internal/batches"
)

// onEach trains c on a number of ranks, and returns the history and the weights of each.
func onEach(t *testing.T, size int, c Config, parts Custom) (histories [][]Epoch, weights [][]float32) {
	t.Helper()
	histories, weights = make([][]Epoch, size), make([][]float32, size)
	for _, err := range testkit.OnRanks(size, func(g mpi.Group) error {
		parts := parts
		parts.Processes = g
		tr, err := New(c.Plain(), parts, small())
		if err != nil {
			return err
		}
		r, err := tr.Run(ctx, Hooks{})
		if err != nil {
			return err
		}
		histories[g.Rank()], weights[g.Rank()] = timeless(r.History), trainedWeights(r.Model)
		return nil
	}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	return histories, weights
}

// However many ranks there are, each ends with the model, and the history, of a single
// process: powers of two and others, numbers of shards that they divide or do not, steps with
// fewer queries than shards, and all that is random.
func TestSameForAnyNumberOfRanks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		loss       string
		bins       int
		activation ops.Activation
		shards     int
		ranks      []int
	}{
		{"plrank-exact", 0, ops.ReLU, 1, []int{1}},
		{"plrank-exact", 0, ops.ReLU, 4, []int{1, 2, 3}},
		{"plrank-exact", 5, ops.SwiGLU, 4, []int{3}},
		{"plrank-rb", 0, ops.ReLU, 7, []int{4, 7}},
		{"policy-gradient", 0, ops.SwiGLU, 8, []int{2}},
	} {
		c := busy("adam")
		c.Shards, c.Epochs, c.EpochsPerPass, c.Loss, c.Bins, c.Activation = test.shards, 3, 2, test.loss, test.bins, test.activation
		one := mustRun(t, mustNew(t, c, small()), Hooks{})
		for _, ranks := range test.ranks {
			histories, weights := onEach(t, ranks, c, Custom{})
			for rank := range ranks {
				if !reflect.DeepEqual(histories[rank], timeless(one.History)) {
					t.Errorf("%d shards, rank %d of %d: history %+v, want %+v", test.shards, rank, ranks, histories[rank], timeless(one.History))
				}
				if !slices.Equal(weights[rank], trainedWeights(one.Model)) {
					t.Errorf("%d shards, rank %d of %d: another model", test.shards, rank, ranks)
				}
			}
		}
	}
}

// The gradient of a step is over all its queries, however they are divided: to
// rounding, where nothing is random.
func TestShardsHaveTheGradientOfTheStep(t *testing.T) {
	t.Parallel()
	c := busy("sgd")
	c.Loss, c.Dropout, c.Batch = "plrank-exact", 0, 11
	one := mustNew(t, c, small())
	order := one.loop.batches.Division.Order(0, one.data.Queries, one.data.Documents)
	var whole batches.Step
	one.loop.batches.PackStep(&whole, order, 0)
	want, err := networkOf(one).Compute(ctx, &whole, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, shards := range []int{2, 3, 8, 13} {
		c.Shards = shards
		other := mustNew(t, c, small())
		var divided batches.Step
		other.loop.batches.PackStep(&divided, order, 0)
		loss, err := networkOf(other).Compute(ctx, &divided, 0)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(loss-want) > 1e-6*math.Abs(want) {
			t.Errorf("%d shards: loss %v, want %v", shards, loss, want)
		}
		for i, g := range gradientOf(other) {
			if math.Abs(float64(g-gradientOf(one)[i])) > 1e-5 {
				t.Errorf("%d shards: gradient %d is %v, want %v", shards, i, g, gradientOf(one)[i])
			}
		}
	}
}

// A checkpoint of rank 0 is where all ranks go on, with any number of them.
func TestRanksResume(t *testing.T) {
	t.Parallel()
	c := busy("adam")
	c.Shards, c.AtLeast = 4, []string{"low: 0.6"}
	whole := mustRun(t, mustNew(t, c, grouped(small())), Hooks{})
	half := c
	half.Epochs = 2
	path := filepath.Join(t.TempDir(), "c.npz")
	for _, size := range [][2]int{{1, 2}, {2, 1}, {4, 3}, {3, 4}} {
		for _, err := range testkit.OnRanks(size[0], func(g mpi.Group) error {
			tr, err := New(half.Plain(), Custom{Processes: g}, grouped(small()))
			if err != nil {
				return err
			}
			return second(tr.Run(ctx, Hooks{Epoch: func(t *Trainer, _ Epoch) error {
				if g.Rank() > 0 {
					return nil
				}
				return saveCheckpoint(t, path)
			}}))
		}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		for rank, err := range testkit.OnRanks(size[1], func(g mpi.Group) error {
			tr, err := New(c.Plain(), Custom{Processes: g}, grouped(small()))
			if err != nil {
				return err
			}
			if g.Rank() == 0 {
				if err := tr.Restore(path); err != nil {
					return err
				}
			}
			r, err := tr.Run(ctx, Hooks{})
			if err != nil {
				return err
			}
			if !reflect.DeepEqual(timeless(r.History), timeless(whole.History)) || !slices.Equal(trainedWeights(r.Model), trainedWeights(whole.Model)) {
				return errors.New("another result")
			}
			return nil
		}) {
			if err != nil {
				t.Errorf("%d ranks, then rank %d of %d: %v", size[0], rank, size[1], err)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }

// What one rank alone finds out ends all, with one message that names it.
func TestRanksFailTogether(t *testing.T) {
	t.Parallel()
	c := busy("sgd")
	c.Shards = 4
	c.Transform = "none"
	bad := func(s *datasets.Splits) { // a query of the second shard
		for i := range s.Train.Row(s.Train.Offsets[17]) {
			s.Train.Row(s.Train.Offsets[17])[i] = math.MaxFloat32
		}
	}
	ofRank1 := func(g mpi.Group) error {
		if g.Rank() == 1 {
			return errors.New("no space left")
		}
		return nil
	}
	for _, test := range []struct {
		name  string
		data  func(*datasets.Splits)
		hooks func(mpi.Group) Hooks
		want  string
	}{
		{"a number that is not finite", bad, nil, "rank 1 of 4: train: epoch 1, step "},
		{"its query", bad, nil, ", query 17 of train: "},
		{"a hook", nil, func(g mpi.Group) Hooks {
			return Hooks{Epoch: func(*Trainer, Epoch) error { return ofRank1(g) }}
		}, "rank 1 of 4: no space left"},
		{"a hook of all", nil, func(mpi.Group) Hooks {
			return Hooks{Epoch: func(*Trainer, Epoch) error { return errors.New("enough") }}
		}, "enough"},
	} {
		var texts []string
		for rank, err := range testkit.OnRanks(4, func(g mpi.Group) error {
			s := small()
			if test.data != nil {
				test.data(s)
			}
			tr, err := New(c.Plain(), Custom{Processes: g}, s)
			if err != nil {
				return err
			}
			var h Hooks
			if test.hooks != nil {
				h = test.hooks(g)
			}
			return second(tr.Run(ctx, h))
		}) {
			var agreed mpi.Agreed
			if !errors.As(err, &agreed) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: rank %d: %v, want %q", test.name, rank, err, test.want)
				continue
			}
			texts = append(texts, err.Error())
		}
		if len(slices.Compact(texts)) > 1 {
			t.Errorf("%s: messages differ: %q", test.name, texts)
		}
	}
}

// A split that one rank cannot use is known to all before training begins; and there
// must be enough shards.
func TestNewFailsTogether(t *testing.T) {
	t.Parallel()
	c := busy("sgd")
	c.Shards = 2
	for rank, err := range testkit.OnRanks(2, func(g mpi.Group) error {
		s := small()
		if g.Rank() == 1 {
			s.Vali = nil
		}
		return second(New(c.Plain(), Custom{Processes: g}, s))
	}) {
		if err == nil || err.Error() != "rank 1 of 2: train: the validation split is empty" {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	for _, err := range testkit.OnRanks(3, func(g mpi.Group) error { return second(New(c.Plain(), Custom{Processes: g}, small())) }) {
		if err == nil || !strings.Contains(err.Error(), "3 ranks for 2 shards") {
			t.Errorf("%v", err)
		}
	}
}

// Whichever rank is interrupted, all end after the same step.
func TestRanksAreInterruptedTogether(t *testing.T) {
	t.Parallel()
	c := busy("sgd")
	c.Shards = 2
	var steps [2]int
	for rank, err := range testkit.OnRanks(2, func(g mpi.Group) error {
		tr, err := New(c.Plain(), Custom{Processes: g}, small())
		if err != nil {
			return err
		}
		own, cancel := context.WithCancel(ctx)
		defer cancel()
		r, err := tr.Run(own, Hooks{Step: func(s Step) {
			if steps[g.Rank()]++; g.Rank() == 1 && s.Epoch == 2 && s.Step == 2 {
				cancel()
			}
		}})
		if err == nil && (!r.Interrupted || len(r.History) != 1) {
			err = fmt.Errorf("%+v", r)
		}
		return err
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	if steps[0] != steps[1] {
		t.Errorf("%d steps, and %d", steps[0], steps[1])
	}
}

// A graph that only one rank cannot build ends all.
func TestErrorOfOneRanksGraph(t *testing.T) {
	c := busy("sgd")
	c.Shards = 2
	builtIn, err := losses.Parse("plrank-exact")
	if err != nil {
		t.Fatal(err)
	}
	for rank, err := range testkit.OnRanks(2, func(g mpi.Group) error {
		loss := func(b losses.Batch) (*G.Node, error) {
			if g.Rank() == 1 {
				return nil, errors.New("no such loss")
			}
			return builtIn(b)
		}
		tr, err := New(c.Plain(), Custom{Processes: g, Loss: loss}, small())
		if err != nil {
			return err
		}
		return second(tr.Run(ctx, Hooks{}))
	}) {
		if err == nil || !strings.HasPrefix(err.Error(), "rank 1 of 2: ") || !strings.Contains(err.Error(), "no such loss") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// A batch that one rank cannot use is skipped by all, and the model is the one of one process.
func TestRanksSkipTogether(t *testing.T) {
	t.Parallel()
	c := busy("adam")
	c.Shards, c.Transform, c.OnNaN, c.EvaluateTrain = 4, "none", "skip", false
	damaged := func() *datasets.Splits {
		s := small()
		row := s.Train.Row(s.Train.Offsets[17])
		for i := range row {
			row[i] = math.MaxFloat32
		}
		return s
	}
	one := mustRun(t, mustNew(t, c, damaged()), Hooks{})
	if one.History[0].Skipped != 1 {
		t.Fatalf("%d batches were skipped, want 1", one.History[0].Skipped)
	}
	for rank, err := range testkit.OnRanks(3, func(g mpi.Group) error {
		tr, err := New(c.Plain(), Custom{Processes: g}, damaged())
		if err != nil {
			return err
		}
		var skipped []error
		r, err := tr.Run(ctx, Hooks{Step: func(s Step) {
			if s.Skipped != nil {
				skipped = append(skipped, s.Skipped)
			}
		}})
		if err != nil {
			return err
		}
		if len(skipped) != c.Epochs || !strings.Contains(skipped[0].Error(), ", query 17 of train: ") || !errors.Is(skipped[0], ErrBatch) {
			return fmt.Errorf("skipped %v", skipped)
		}
		if !reflect.DeepEqual(timeless(r.History), timeless(one.History)) || !slices.Equal(trainedWeights(r.Model), trainedWeights(one.Model)) {
			return errors.New("another result")
		}
		return nil
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// Ranks that measure a model together, each on some chunks of the queries, find what one
// process does: also where rankings are sampled, with weights, and with fewer chunks than
// ranks.
func TestRanksMeasureTogether(t *testing.T) {
	t.Parallel()
	c := busy("adam")
	c.Shards, c.Epochs, c.Report, c.WeightedMetrics = 5, 1, []string{"expected-pair-accuracy@5", "err@5", "disparity"}, true
	var reports []*Report
	for _, ranks := range []int{1, 2, 5} {
		for rank, err := range testkit.OnRanks(ranks, func(g mpi.Group) error {
			s := small()
			s.Vali = many(s.Vali, 40)
			if n := len(s.Vali.Blocks(chunkRows)) - 1; n < 3 {
				return fmt.Errorf("%d chunks, want several", n)
			}
			tr, err := New(c.Plain(), Custom{Processes: g}, s)
			if err != nil {
				return err
			}
			result, err := tr.Run(ctx, Hooks{})
			if err != nil {
				return err
			}
			report, err := tr.Report(result.Model)
			if g.Rank() == ranks-1 {
				reports = append(reports, report)
			}
			return err
		}) {
			if err != nil {
				t.Fatalf("rank %d of %d: %v", rank, ranks, err)
			}
		}
	}
	for _, report := range reports[1:] {
		if !reflect.DeepEqual(report, reports[0]) {
			t.Errorf("%+v, want %+v", report, reports[0])
		}
	}
}

// many is the queries of d again and again, with weights.
func many(d *datasets.Dataset, times int) *datasets.Dataset {
	var queries []int
	for range times {
		for q := range d.Queries() {
			queries = append(queries, q)
		}
	}
	d = d.Select(queries)
	for q := range d.Queries() {
		d.QueryWeights = append(d.QueryWeights, 1+float32(q%3))
	}
	return d
}
