package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train/internal/network"
)

// steps is a collection in which the label of a document is 1 where its feature is in one of two ranges,
// or missing.
func steps() *datasets.Splits {
	split := func(name string, queries int, seed uint64) *datasets.Dataset {
		rng := rand.New(rand.NewPCG(seed, 1))
		d := &datasets.Dataset{Name: name, FeatureIDs: []int{3, 8}, Offsets: []int{0}}
		for range queries {
			for range 12 {
				x, label := float32(10*rng.Float64()), float32(0)
				switch {
				case rng.IntN(6) == 0:
					x, label = float32(math.NaN()), 1
				case x > 2 && x < 3 || x > 7 && x < 8:
					label = 1
				}
				d.Features, d.Labels = append(d.Features, x, float32(rng.NormFloat64())), append(d.Labels, label)
			}
			d.Offsets, d.QueryIDs = append(d.Offsets, len(d.Labels)), append(d.QueryIDs, name+string(rune('0'+len(d.QueryIDs))))
		}
		return d
	}
	return &datasets.Splits{Train: split("train", 80, 1), Vali: split("vali", 30, 2), Test: split("test", 20, 3)}
}

func byBins(scorer string) Config {
	return Config{
		Objective:    Objective{Loss: "softmax"},
		Inputs:       Inputs{Transform: "none", Bins: 20},
		Model:        Model{Scorer: scorer, Hidden: []int{8}, Activation: ops.ReLU},
		Optimization: Optimization{Optimizer: "adam", LearningRate: 0.02, Batch: 4, Epochs: 6},
		Seed:         1,
	}
}

// Ranges and missing values decide: through bins a model sees both, as a number it does not.
func TestBinsSeeThresholdsAndMissingValues(t *testing.T) {
	t.Parallel()
	s := steps()
	for _, scorer := range networkScorers {
		c := byBins(scorer)
		with := mustRun(t, mustNew(t, c, s), Hooks{})
		c.Bins = 0
		without := mustRun(t, mustNew(t, c, s), Hooks{})
		value := func(r *Result) float64 { return float64(r.History[r.BestEpoch-1].Vali["ndcg@5"]) }
		t.Logf("%s: NDCG@5 %.3f, as a number %.3f", scorer, value(with), value(without))
		if value(with) < 0.95 || value(without) > value(with)-0.1 {
			t.Errorf("%s: NDCG@5 is %.3f, as a number %.3f", scorer, value(with), value(without))
		}
	}
}

// A saved model scores raw values as the graph does, bit for bit, without and with categories.
func TestBinsFile(t *testing.T) {
	t.Parallel()
	s := steps()
	for _, categorical := range []Features{nil, {"8"}} {
		for _, d := range []*datasets.Dataset{s.Train, s.Vali, s.Test} {
			for r := range d.Rows() {
				d.Row(r)[1] = float32(r % 3)
			}
		}
		c := byBins(mlpScorer)
		c.Epochs, c.Members, c.Dropout, c.Categorical = 2, 2, .2, categorical
		tr := mustNew(t, c, s)
		m := mustRun(t, tr, Hooks{}).Model
		want, err := datasets.Score(m, s.Test)
		if err != nil {
			t.Fatal(err)
		}
		graph := network.NewScoring(mustScorer(t, m), map[*datasets.Dataset]*datasets.Transformed{s.Test: datasets.NewTransformed(s.Test, m.File().Transform)}, m.File().Transform.Width())
		byGraph, err := graph.Score(s.Test, s.Test.Blocks(chunkRows))
		if err != nil || !slices.Equal(byGraph, want) {
			t.Errorf("categories %v: other scores from the graph (%v)", categorical, err)
		}
		path := filepath.Join(t.TempDir(), "model.npz")
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		opened, err := ranker.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := datasets.Score(opened, s.Test); err != nil || !slices.Equal(got, want) {
			t.Errorf("categories %v: other scores from the file (%v)", categorical, err)
		}
	}
}

// A run with bins goes on from a checkpoint as if it had not stopped, and does not depend on the number
// of cores.
func TestBinsResume(t *testing.T) {
	s := steps()
	c := byBins(mlpScorer)
	c.Epochs, c.Average, c.Members = 4, 0.9, 2
	for _, c.Activation = range []ops.Activation{ops.ReLU, ops.SwiGLU} {
		whole := mustRun(t, mustNew(t, c, s), Hooks{})
		cores := runtime.GOMAXPROCS(5)
		path := resumes(t, whole, c, 2, func(c Config) *Trainer { return mustNew(t, c, s) })
		runtime.GOMAXPROCS(cores)
		other := c
		other.Bins = 3
		if err := mustNew(t, other, s).Restore(path); err == nil || !strings.Contains(err.Error(), "another configuration: bins is 3, was 20") {
			t.Errorf("with other bins: %v", err)
		}
	}
}

func TestBinsOfTheInitialModel(t *testing.T) {
	s := steps()
	c := byBins(mlpScorer)
	c.Epochs, c.Activation = 1, ops.SwiGLU
	m := mustRun(t, mustNew(t, c, s), Hooks{}).Model
	on, err := New(c.Plain(), Custom{Initial: m}, s)
	if err != nil {
		t.Fatal(err)
	}
	if begin := current(t, on); !slices.Equal(trainedWeights(begin), trainedWeights(m)) || !reflect.DeepEqual(begin.File().Transform.Bins, m.File().Transform.Bins) {
		t.Error("it does not begin with the weights and the bins of the model")
	}
	c.Bins = 0
	if _, err := New(c.Plain(), Custom{Initial: m}, s); err == nil || !strings.Contains(err.Error(), "0 bins, but the initial model has bins for 2 inputs") {
		t.Errorf("an initial model with bins: %v", err)
	}
	c.Bins = 126
	if _, err := New(c.Plain(), Custom{}, s); err == nil || !strings.Contains(err.Error(), "126 bins: want 1 to 125") {
		t.Errorf("too many bins: %v", err)
	}
}

func TestForestHasBinsOfItsOwn(t *testing.T) {
	s := steps()
	for bins, want := range map[int]string{2: "a forest with 2 bins: want 3 to 255", 3: "", 255: "", 256: "bins is 256: want 0 to 255"} {
		c := Config{Model: Model{Scorer: forestScorer}, Inputs: Inputs{Transform: "raw", Bins: bins}, Optimization: Optimization{Epochs: 1}}.Plain()
		_, err := New(c, Custom{}, s)
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && !strings.Contains(got, want) {
			t.Errorf("%d bins: %v", bins, err)
		}
	}
}

func mustScorer(t *testing.T, m *ranker.Model) nn.Scorer {
	t.Helper()
	s, err := Scorer(m.File())
	if err != nil {
		t.Fatal(err)
	}
	return s
}
