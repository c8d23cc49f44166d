package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/ranker"
)

// named is a collection in which the relevance of a document is its category's, one
// of 60 numbers that mean nothing; two other features are noise. Some documents of the
// validation and test splits have no category, or one that was not seen.
func named() *datasets.Splits {
	grades := rand.New(rand.NewPCG(5, 5)).Perm(60)
	make := func(name string, queries int, seed uint64, strange bool) *datasets.Dataset {
		rng := rand.New(rand.NewPCG(seed, 1))
		d := &datasets.Dataset{Name: name, FeatureIDs: []int{1, 4, 9}, Offsets: []int{0}}
		for q := range queries {
			for i := range 12 {
				category := rng.IntN(60)
				value := float32(17 * category)
				label := float32(grades[category] / 12) // 0 to 4
				if strange && i == 0 {
					value, label = float32([]float64{math.NaN(), 5}[rng.IntN(2)]), 0
				}
				d.Features = append(d.Features, float32(rng.NormFloat64()), value, float32(rng.NormFloat64()))
				d.Labels = append(d.Labels, label)
			}
			d.Offsets = append(d.Offsets, len(d.Labels))
			d.QueryIDs = append(d.QueryIDs, fmt.Sprint(q))
		}
		return d
	}
	return &datasets.Splits{Train: make("train", 80, 1, false), Vali: make("vali", 30, 2, true), Test: make("test", 20, 3, true)}
}

func byName(scorer string) Config {
	return Config{
		Objective:    Objective{Loss: "softmax"},
		Inputs:       Inputs{Transform: "standard", Categorical: Features{"4"}},
		Model:        Model{Scorer: scorer, Hidden: []int{8}, Activation: ops.ReLU},
		Optimization: Optimization{Optimizer: "adamw", LearningRate: 0.02, Batch: 4, Epochs: 8},
		Seed:         1,
	}
}

// A category whose number means nothing decides: with it, validation is nearly perfect; as
// a number it is not. So for all scorers.
func TestCategorical(t *testing.T) {
	t.Parallel()
	s := named()
	for _, scorer := range Scorers() {
		c := byName(scorer)
		with := mustRun(t, mustNew(t, c, s), Hooks{})
		c.Categorical = nil
		without := mustRun(t, mustNew(t, c, s), Hooks{})
		value := func(r *Result) float64 { return float64(r.History[r.BestEpoch-1].Vali["ndcg@5"]) }
		t.Logf("%s: NDCG@5 %.3f, as a number %.3f", scorer, value(with), value(without))
		if value(with) < 0.95 || value(without) > value(with)-0.1 {
			t.Errorf("%s: NDCG@5 is %.3f, as a number %.3f", scorer, value(with), value(without))
		}
	}
}

// A saved model scores raw values as the graph does, bit for bit, unseen and missing ones
// among them; its file says which features it uses.
func TestCategoricalFile(t *testing.T) {
	t.Parallel()
	s := named()
	for _, scorer := range networkScorers {
		c := byName(scorer)
		c.Epochs, c.Members = 2, 2
		r := mustRun(t, mustNew(t, c, s), Hooks{}).Model
		want, err := datasets.Score(r, s.Test)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "model.npz")
		if err := r.Save(path); err != nil {
			t.Fatal(err)
		}
		m, err := ranker.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := datasets.Score(m, s.Test)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: other scores from the file (%v)", scorer, err)
		}
		if used := m.UsedFeatures(); !slices.Equal(used, []int{1, 4, 9}) || !slices.Equal(r.UsedFeatures(), used) {
			t.Errorf("%s: uses %v and %v", scorer, used, r.UsedFeatures())
		}
	}
}

// A run with categories goes on from a checkpoint as if it had not stopped, and does not
// depend on the number of cores.
func TestCategoricalResume(t *testing.T) {
	s := named()
	c := byName(mlpScorer)
	c.Epochs, c.Average, c.Members = 4, 0.9, 2
	whole := mustRun(t, mustNew(t, c, s), Hooks{})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(5))
	path := resumes(t, whole, c, 2, func(c Config) *Trainer { return mustNew(t, c, s) })
	other := c
	other.Categorical = nil
	if err := mustNew(t, other, s).Restore(path); err == nil || !strings.Contains(err.Error(), "another configuration: categorical is null, was [\"4\"]") {
		t.Errorf("without the category: %v", err)
	}
}

func TestCategoricalErrors(t *testing.T) {
	s := named()
	c := byName(mlpScorer)
	c.Categorical = Features{"4", "5"}
	if _, err := New(c.Plain(), Custom{}, s); err == nil || !strings.Contains(err.Error(), "categorical: datasets: train: no feature \"5\": ids go from 1 to 9") {
		t.Errorf("a feature that is not there: %v", err)
	}
	c.Categorical, c.Epochs = Features{"4"}, 1
	r := mustRun(t, mustNew(t, c, s), Hooks{}).Model
	if _, err := New(c.Plain(), Custom{Initial: r}, s); err != nil {
		t.Errorf("an initial model: %v", err)
	}
	c.Categorical = Features{"9"}
	if _, err := New(c.Plain(), Custom{Initial: r}, s); err == nil || !strings.Contains(err.Error(), "the categorical features of the initial model are [4], not [9]") {
		t.Errorf("an initial model with another category: %v", err)
	}
}

// Training goes on from a model whose columns of text no setting names, and from one that has nothing in bins.
func TestInitialModelOfTexts(t *testing.T) {
	s := named()
	for _, d := range []*datasets.Dataset{s.Train, s.Vali, s.Test} {
		d.Levels = [][]string{nil, nil, nil}
		for v := range 17 * 60 {
			d.Levels[1] = append(d.Levels[1], fmt.Sprint("text", v))
		}
	}
	c := byName(mlpScorer)
	c.Categorical, c.Epochs = nil, 1
	r := mustRun(t, mustNew(t, c, s), Hooks{}).Model
	if _, err := New(c.Plain(), Custom{Initial: r}, s); err != nil {
		t.Errorf("a column of text: %v", err)
	}

	c.Categorical, c.Bins = Features{"1", "4", "9"}, 8
	path := filepath.Join(t.TempDir(), "model.npz")
	if err := mustRun(t, mustNew(t, c, s), Hooks{}).Model.Save(path); err != nil {
		t.Fatal(err)
	}
	r, err := ranker.Open(path)
	if err == nil {
		_, err = New(c.Plain(), Custom{Initial: r}, s)
	}
	if err != nil {
		t.Errorf("categories alone: %v", err)
	}
}

// Other bins than the initial model's are refused.
func TestInitialModelHasItsBins(t *testing.T) {
	s := named()
	c := byName(mlpScorer)
	c.Bins, c.Epochs = 8, 1
	r := mustRun(t, mustNew(t, c, s), Hooks{}).Model
	for bins, want := range map[int]string{0: "want bins for both or for neither", 5: "5 bins, but inputs of the initial model have more"} {
		c.Bins = bins
		if _, err := New(c.Plain(), Custom{Initial: r}, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d bins: %v, want %s", bins, err, want)
		}
	}
}

// users is queries of users that are there twice, of documents of eight kinds: a user likes one of them.
func users(name string, n, first int, times int) *datasets.Dataset {
	d := &datasets.Dataset{Name: name, FeatureIDs: []int{1, 2}, FeatureNames: []string{"user", "kind"}, Offsets: []int{0}}
	for q := range times * n {
		user := q%n + first
		likes := user * 2654435761 >> 16 % 8
		for i := range 2 {
			kind := (likes + i*(1+q%7)) % 8
			d.Features, d.Labels = append(d.Features, float32(user), float32(kind)), append(d.Labels, float32(1-i))
		}
		d.Offsets, d.QueryIDs = append(d.Offsets, len(d.Labels)), append(d.QueryIDs, fmt.Sprint(name, q))
	}
	return d
}

// More users than there are vectors are trained on and scored. What a step allocates is in proportion to its documents, not
// to the users; the rarest and those not seen have finite scores.
func TestMemoryOfMoreUsersThanVectors(t *testing.T) {
	s := &datasets.Splits{Train: users("train", 100_500, 0, 2), Vali: users("vali", 100, 1, 1), Test: users("test", 100, 200_000, 1)}
	c := byName("mlp")
	c.Transform, c.Categorical, c.Batch, c.Epochs = "none", Features{"user", "kind"}, 10_000, 1
	tr := mustNew(t, c, s)
	if w := tr.Warnings(); len(w) != 1 || !strings.Contains(w[0], "train: the categorical feature user: the most frequent 100000 values are told apart, and 500 rarer ones count as unseen") {
		t.Errorf("warnings %q", w)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m := mustRun(t, tr, Hooks{}).Model
	runtime.ReadMemStats(&after)
	table := uint64(100_002 * 16 * 8) // of float64
	if used := after.TotalAlloc - before.TotalAlloc; used > 15*table {
		t.Errorf("training allocates %d MB in 21 steps: a table is %d MB", used>>20, table>>20)
	}
	for _, d := range []*datasets.Dataset{s.Vali, s.Test, s.Train.Select([]int{100_400})} {
		scores, err := datasets.Score(m, d)
		if err != nil || slices.ContainsFunc(scores, func(x float64) bool { return !finite(x) }) {
			t.Errorf("%s: %v, error %v", d.Name, scores, err)
		}
	}
}
