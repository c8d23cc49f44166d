package train

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/train/internal/batches"
	"github.com/plrank/plrank/train/internal/network"
)

// inertia is a hook that remembers gradients and steps: it adds half of the gradient before, and makes later steps smaller.
type inertia struct {
	NopHook
	before []float32
	steps  int
}

func (h *inertia) Prepare(arrays []nn.Array) error {
	h.before = make([]float32, network.Size(arrays))
	return nil
}

func (h *inertia) BeforeStep(s *Step) error {
	h.steps++
	s.Rate /= float64(h.steps)
	return nil
}

func (h *inertia) Gradient(s *Step) error {
	for i := range s.Gradient {
		s.Gradient[i] += h.before[i] / 2
	}
	copy(h.before, s.Gradient)
	return nil
}

func (h *inertia) State() State {
	return State{Arrays: map[string][]float32{"weights": h.before}, Values: map[string]any{"step": &h.steps}}
}

// stateless is inertia that no checkpoint keeps.
type stateless struct{ inertia }

func (*stateless) State() State { return State{} }

func withHooks(t *testing.T, c Config, hooks ...Hook) *Trainer {
	t.Helper()
	tr, err := New(c.Plain(), Custom{Hooks: hooks}, small())
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// A run with a custom hook goes on from a checkpoint as if nothing had happened, also with other hooks of the same names.
func TestCustomHookResumesExactly(t *testing.T) {
	t.Parallel()
	c := busy("adam")
	c.Average = 0.9
	plain := mustRun(t, mustNew(t, c, small()), Hooks{})
	begin := func(c Config) *Trainer { return withHooks(t, c, &inertia{}, &inertia{}) }
	whole := mustRun(t, begin(c), Hooks{})
	if slices.Equal(trainedWeights(whole.Model), trainedWeights(plain.Model)) {
		t.Fatal("the hook has no effect")
	}
	path := resumes(t, whole, c, 2, begin)
	for _, other := range [][]Hook{nil, {&inertia{}}, {&inertia{}, &stateless{}}} {
		err := withHooks(t, c, other...).Restore(path)
		if err == nil || !strings.Contains(err.Error(), `before ["*train.inertia" "*train.inertia"]`) {
			t.Errorf("%d hooks: %v", len(other), err)
		}
	}
}

// What a hook does not give as its State is not there when a run goes on: the model is another one.
func TestOnlyStateIsInCheckpoints(t *testing.T) {
	t.Parallel()
	c := busy("sgd")
	whole := withHooks(t, c, &stateless{})
	mustRun(t, whole, Hooks{})
	path := filepath.Join(t.TempDir(), "c.npz")
	half := c
	half.Epochs = 2
	first := withHooks(t, half, &stateless{})
	mustRun(t, first, Hooks{})
	if err := saveCheckpoint(first, path); err != nil {
		t.Fatal(err)
	}
	second := withHooks(t, c, &stateless{})
	if err := second.Restore(path); err != nil {
		t.Fatal(err)
	}
	if mustRun(t, second, Hooks{}); slices.Equal(networkOf(second).Weights, networkOf(whole).Weights) {
		t.Error("the same weights")
	}
}

// witness notes the moments of a run, and fails at one of them.
type witness struct {
	name    string
	moments *[]string
	fails   string
	last    Step // at the moment before, with copies of the slices
}

var errWitness = errors.New("no space left")

func (w *witness) note(moment string, s *Step) error {
	*w.moments = append(*w.moments, w.name+" "+moment)
	if s != nil {
		w.last = *s
		w.last.Weights, w.last.Gradient = slices.Clone(s.Weights), slices.Clone(s.Gradient)
	}
	if moment == w.fails {
		return errWitness
	}
	return nil
}

func (w *witness) Prepare([]nn.Array) error { return w.note("Prepare", nil) }
func (w *witness) Begin() error             { return w.note("Begin", nil) }
func (w *witness) BeforeStep(s *Step) error { return w.note("BeforeStep", s) }
func (w *witness) Gradient(s *Step) error   { return w.note("Gradient", s) }
func (w *witness) AfterStep(s *Step) error  { return w.note("AfterStep", s) }
func (w *witness) Evaluate(*Epoch) error    { return w.note("Evaluate", nil) }
func (w *witness) AfterEpoch(e Epoch) error { return w.note("AfterEpoch", nil) }
func (w *witness) Done() bool               { return len(*w.moments) > 0 && w.fails == "Done" }
func (w *witness) State() State             { return State{} }
func (w *witness) AfterUpdate(s *Step) error {
	if slices.Equal(s.Weights, w.last.Weights) {
		return errors.New("the weights are the old ones")
	}
	return w.note("AfterUpdate", s)
}

// Hooks are called in the order of Custom.Hooks, and in reverse after an update.
func TestHooksNest(t *testing.T) {
	t.Parallel()
	c := busy("sgd")
	c.Epochs, c.Batch = 1, 1000
	var got []string
	tr := withHooks(t, c, &witness{name: "a", moments: &got}, &witness{name: "b", moments: &got})
	mustRun(t, tr, Hooks{
		Step:  func(Step) { got = append(got, "Hooks.Step") },
		Epoch: func(*Trainer, Epoch) error { got = append(got, "Hooks.Epoch"); return nil },
	})
	const want = "a Prepare, b Prepare, a Begin, b Begin, a BeforeStep, b BeforeStep, a Gradient, b Gradient, b AfterUpdate, a AfterUpdate, " +
		"a AfterStep, b AfterStep, Hooks.Step, a Evaluate, b Evaluate, a AfterEpoch, b AfterEpoch, Hooks.Epoch"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("%s, want %s", text, want)
	}
}

// A custom hook sees the gradient before it is clipped, and the weights as the model has them, whatever coordinates they
// are learned in.
func TestCustomHookSeesWeightsOfTheModel(t *testing.T) {
	t.Parallel()
	c := busy("sgd")
	c.Transform, c.Bins, c.GroupLasso, c.Clip, c.Epochs, c.Batch = "quantile", 4, 0.1, 1e-3, 1, 1000
	w := &witness{moments: new([]string)}
	tr := withHooks(t, c, w)
	begin := slices.Clone(networkOf(tr).Weights)
	var seen []float32
	check := func(s *Step) error {
		if seen = slices.Clone(s.Weights); batches.Norm(s.Gradient) < 2*c.Clip {
			return fmt.Errorf("the norm of the gradient is %v", batches.Norm(s.Gradient))
		}
		return nil
	}
	tr.loop.hooks = slices.Insert(tr.loop.hooks, slices.IndexFunc(tr.loop.hooks, func(h Hook) bool { _, is := h.(*customHook); return is }),
		Hook(&onGradient{check: check}))
	mustRun(t, tr, Hooks{})
	if !slices.Equal(seen, begin) {
		t.Error("at Gradient the weights are others than the model's")
	}
	if !slices.Equal(w.last.Weights, networkOf(tr).Weights) {
		t.Error("after the step the weights are others than the model's")
	}
}

type onGradient struct {
	NopHook
	check func(*Step) error
}

func (h *onGradient) Gradient(s *Step) error { return h.check(s) }

// An error of a hook of one rank ends all ranks, and says whose it is and when.
func TestHookErrorsEndAllRanks(t *testing.T) {
	t.Parallel()
	c := busy("sgd")
	c.Shards, c.Epochs = 2, 1
	for moment, where := range map[string]string{
		"Prepare": "", "Begin": "", "BeforeStep": "epoch 1, step 1: ", "Gradient": "epoch 1, step 1: ", "AfterUpdate": "epoch 1, step 1: ",
		"AfterStep": "epoch 1, step 1: ", "Evaluate": "epoch 1, after step 6: ", "AfterEpoch": "epoch 1: ",
	} {
		for ranks := 1; ranks <= 2; ranks++ {
			for rank, err := range testkit.OnRanks(ranks, func(g mpi.Group) error {
				w := &witness{moments: new([]string)}
				if g.Rank() == ranks-1 {
					w.fails = moment
				}
				tr, err := New(c.Plain(), Custom{Processes: g, Hooks: []Hook{w}}, small())
				if err != nil {
					return err
				}
				return second(tr.Run(ctx, Hooks{}))
			}) {
				want := "train: " + where + "hook *train.witness: "
				if ranks > 1 {
					want += "rank 1 of 2: "
				} else if !errors.Is(err, errWitness) {
					t.Errorf("%s: %v", moment, err)
				}
				if err == nil || err.Error() != want+"no space left" {
					t.Errorf("%s: rank %d of %d: %v, want %q", moment, rank, ranks, err, want)
				}
			}
		}
	}
}

// A hook that is done ends the run after the epoch, or before the first one.
func TestHookEndsRun(t *testing.T) {
	t.Parallel()
	tr := withHooks(t, busy("sgd"), &witness{moments: new([]string), fails: "Done"})
	if r := mustRun(t, tr, Hooks{}); len(r.History) != 0 || !tr.Done() {
		t.Errorf("%d epochs, done: %t", len(r.History), tr.Done())
	}
}

// Processes with the same hooks train the model of one process; with other hooks they do not begin.
func TestRanksHaveTheSameHooks(t *testing.T) {
	t.Parallel()
	c := busy("adam")
	c.Shards, c.Epochs = 2, 2
	want := trainedWeights(mustRun(t, withHooks(t, c, &inertia{}), Hooks{}).Model)
	run := func(g mpi.Group, hooks ...Hook) error {
		tr, err := New(c.Plain(), Custom{Processes: g, Hooks: hooks}, small())
		if err != nil {
			return err
		}
		r, err := tr.Run(ctx, Hooks{})
		if err == nil && !slices.Equal(trainedWeights(r.Model), want) {
			err = errors.New("another model")
		}
		return err
	}
	for _, err := range testkit.OnRanks(2, func(g mpi.Group) error { return run(g, &inertia{}) }) {
		if err != nil {
			t.Error(err)
		}
	}
	for _, err := range testkit.OnRanks(2, func(g mpi.Group) error { return run(g, []Hook{&inertia{}, &stateless{}}[g.Rank()]) }) {
		if err == nil || !strings.Contains(err.Error(), `the hooks (["*train.stateless"], on rank 0 ["*train.inertia"])`) {
			t.Error(err)
		}
	}
}

func TestNilHookIsRefused(t *testing.T) {
	_, err := New(busy("sgd").Plain(), Custom{Hooks: []Hook{&inertia{}, nil}}, small())
	if err == nil || err.Error() != "train: Custom.Hooks[1] is nil" {
		t.Error(err)
	}
}
