package train

import (
	"context"
	"encoding/json"
	"fmt"
	"github.com/plrank/plrank/nn"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train/internal/network"
)

// threeNetworks is an ensemble that soon fits small() too closely.
func threeNetworks(scorer string) Config {
	c := busy("adam")
	c.Scorer, c.Members, c.LearningRate, c.Epochs, c.Metric = scorer, 3, 0.1, 8, "expected-ndcg@5"
	return c
}

// alone is a network of an ensemble, counted from 0, as a model of its own.
func alone(t *testing.T, m *ranker.Model, network int) *ranker.Model {
	t.Helper()
	f := *m.File()
	settings := map[string]any{}
	if err := json.Unmarshal(f.Settings, &settings); err != nil {
		t.Fatal(err)
	}
	settings["members"] = 1
	var err error
	if f.Settings, err = json.Marshal(settings); err != nil {
		t.Fatal(err)
	}
	f.Arrays = nil
	for _, a := range m.File().Arrays {
		var own bool
		if a.Name, own = strings.CutPrefix(a.Name, fmt.Sprintf("m%d.", network)); own {
			f.Arrays = append(f.Arrays, a)
		}
	}
	r, err := ranker.New(&f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Of every network the model has the weights of the epoch after which it was the best by itself, of the epochs
// to the best one of the ensemble. Those of networks differ.
func TestNetworksAreKeptAtTheirOwnBestEpochs(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{threeNetworks(mlpScorer), threeNetworks(attentionScorer)} {
		s := small()
		tr := mustNew(t, c, s)
		measured := func(m *ranker.Model) Values {
			values, err := tr.parsed.evaluator.values(modelScoring{m}, s.Vali)
			if err != nil {
				t.Fatal(err)
			}
			return values
		}
		var after []*ranker.Model
		r := mustRun(t, tr, Hooks{Epoch: func(tr *Trainer, _ Epoch) error {
			m, err := tr.Current()
			after = append(after, m)
			return err
		}})
		var epochs []int
		for network := range c.Members {
			best, epoch := -1., 0
			for i, m := range after[:r.BestEpoch] {
				if v := float64(measured(alone(t, m, network))[c.Metric]); v > best {
					best, epoch = v, i+1
				}
			}
			epochs = append(epochs, epoch)
			if got, want := alone(t, r.Model, network), alone(t, after[epoch-1], network); !slices.Equal(trainedWeights(got), trainedWeights(want)) {
				t.Errorf("%s: network %d does not have the weights of its best epoch, %d", c.Scorer, network, epoch)
			}
		}
		if slices.Max(epochs) == slices.Min(epochs) {
			t.Errorf("%s: all networks were best after epoch %d: no test", c.Scorer, epochs[0])
		}
		if kept := r.History[r.BestEpoch-1].Vali; !reflect.DeepEqual(measured(r.Model), kept) {
			t.Errorf("%s: values of the model are %v, of its epoch %v", c.Scorer, measured(r.Model), kept)
		}
	}
}

// Runs go on from any checkpoint as if they had not stopped, on another number of cores, and have the same bits on
// any number of processes.
func TestNetworksResume(t *testing.T) {
	c := threeNetworks(mlpScorer)
	c.Average, c.Epochs, c.Shards = .5, 3, 4
	whole := mustRun(t, mustNew(t, c, small()), Hooks{})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(5))
	for _, stop := range []int{1, 2} {
		resumes(t, whole, c, stop, func(c Config) *Trainer { return mustNew(t, c, small()) })
	}
	histories, weights := onEach(t, 2, c, Custom{})
	for rank := range weights {
		if !slices.Equal(weights[rank], trainedWeights(whole.Model)) || !reflect.DeepEqual(histories[rank], timeless(whole.History)) {
			t.Errorf("another model, or another history, on rank %d", rank)
		}
	}
}

// Interrupted in the first epoch, the model is the one of the last step. An initial model whose networks become worse
// is what is kept of each.
func TestNetworksBeginWithTheInitialModel(t *testing.T) {
	t.Parallel()
	c := threeNetworks(mlpScorer)
	stopped, stop := context.WithCancel(ctx)
	tr := mustNew(t, c, small())
	r, err := tr.Run(stopped, Hooks{Step: func(Step) { stop() }})
	if err != nil || !slices.Equal(trainedWeights(r.Model), networkOf(tr).Weights) {
		t.Errorf("interrupted: another model than after the last step, or %v", err)
	}
	begin := initialModel(t, c)
	c.LearningRate, c.Epochs = 5, 2
	if tr, err = New(c.Plain(), Custom{Initial: begin}, small()); err != nil {
		t.Fatal(err)
	}
	r = mustRun(t, tr, Hooks{})
	if !slices.Equal(trainedWeights(r.Model), trainedWeights(begin)) || !reflect.DeepEqual(r.History[1].Vali, r.Initial) {
		t.Errorf("the initial model has %v, and is not kept: %v", r.Initial, r.History[1].Vali)
	}
}

// Networks with vectors of categories in common are kept together: their model is the one of the best epoch.
func TestNetworksWithEmbeddingsAreKeptTogether(t *testing.T) {
	t.Parallel()
	c := byName(mlpScorer)
	c.Members, c.Epochs = 2, 3
	best, metric := -1., mustNew(t, c, named()).Config.Metric
	var want []float32
	r := mustRun(t, mustNew(t, c, named()), Hooks{Epoch: func(tr *Trainer, e Epoch) error {
		if v := float64(e.Vali[metric]); v > best {
			best, want = v, slices.Clone(networkOf(tr).Weights)
		}
		return nil
	}})
	if !slices.Equal(trainedWeights(r.Model), want) {
		t.Error("the model is not the one of the best epoch")
	}
}

// networkOf is what a trainer of a network learns.
func networkOf(t *Trainer) *network.Network { return t.loop.learner.(*network.Network) }

func gradientOf(t *Trainer) []float32 {
	_, gradient, _, _ := t.loop.learner.Numbers()
	return gradient
}

func arraysOf(t *Trainer) []nn.Array {
	_, _, _, arrays := t.loop.learner.Numbers()
	return arrays
}

// bestOf returns the weights of the best model.
func bestOf(t *Trainer) []float32 { return stateOf(t)["best"] }

func stateOf(t *Trainer) map[string][]float32 {
	arrays, _ := t.loop.learner.State()
	return arrays
}

var networkScorers = []string{attentionScorer, mlpScorer}
