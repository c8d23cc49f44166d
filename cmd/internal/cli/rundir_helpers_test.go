package cli

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/train"
)

// small is a collection that is quick to learn.
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
func busy(optimizer string) train.Config {
	return train.Config{
		Objective:    train.Objective{Loss: "plrank-rb", Cutoff: 5, Samples: train.Dynamic, NormalizeGains: true},
		Inputs:       train.Inputs{Transform: "minmax+log-standard"},
		Model:        train.Model{Hidden: []int{8, 4}, Activation: ops.ReLU, Dropout: 0.2},
		Optimization: train.Optimization{Optimizer: optimizer, LearningRate: 0.01, Decay: 0.9, L2: 1e-3, Clip: 1, Batch: 5, Epochs: 4},
		Evaluation:   train.Evaluation{EvaluateTrain: true},
		Seed:         3,
	}
}

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

// timeless is a history without its times.
func timeless(history []train.Epoch) []train.Epoch {
	history = slices.Clone(history)
	for i := range history {
		history[i].Seconds, history[i].TrainSeconds = 0, 0
	}
	return history
}

// newRun prepares a run without a recipe: what c leaves zero is plain.
func newRun(t *testing.T, c train.Config, s *datasets.Splits) *train.Trainer {
	t.Helper()
	tr, err := train.New(c.Plain(), train.Custom{}, s)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func run(t *testing.T, tr *train.Trainer, h train.Hooks) *train.Result {
	t.Helper()
	r, err := tr.Run(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// current tells the models of trainers apart.
func current(t *testing.T, tr *train.Trainer) string {
	t.Helper()
	m, err := tr.Current()
	if err != nil {
		t.Fatal(err)
	}
	return m.Digest()
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
