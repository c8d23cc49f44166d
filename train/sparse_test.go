package train

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/ranker"
)

// bags returns splits of documents with few of 400 words, and the same with sparse documents.
func bags() (dense, sparse *datasets.Splits) {
	random := rand.New(rand.NewPCG(5, 5))
	make1 := func(name string, queries int) (d, s *datasets.Dataset) {
		const docs, width = 12, 400
		d = &datasets.Dataset{Name: name, Offsets: []int{0}}
		for id := range width {
			d.FeatureIDs = append(d.FeatureIDs, 1+id)
		}
		twin := &datasets.Dataset{}
		for q := range queries {
			for range docs {
				row, score := make([]float32, width), random.Float64()
				var columns []int32
				var values []float32
				for c := range row {
					if random.IntN(2+c/4) == 0 {
						row[c] = float32(1 + random.IntN(3))
						if random.IntN(30) == 0 {
							row[c] = float32(math.NaN())
						} else if c < 20 {
							score += math.Cos(float64(c)) * float64(row[c])
						}
						columns, values = append(columns, int32(c)), append(values, row[c])
					}
				}
				d.Features, d.Labels = append(d.Features, row...), append(d.Labels, float32(min(3, max(0, math.Floor(score)))))
				twin.Sparse.Append(columns, values)
			}
			d.Offsets, d.QueryIDs = append(d.Offsets, docs*(q+1)), append(d.QueryIDs, name+strconv.Itoa(q))
		}
		s = new(datasets.Dataset)
		*s = *d
		s.Features, s.Sparse = nil, twin.Sparse
		return d, s
	}
	dense, sparse = new(datasets.Splits), new(datasets.Splits)
	dense.Train, sparse.Train = make1("t", 60)
	dense.Vali, sparse.Vali = make1("v", 30)
	return dense, sparse
}

func TestSparseDocumentsTrainTheModelOfDenseOnes(t *testing.T) {
	dense, sparse := bags()
	var all []*ranker.Model
	for name, change := range map[string]func(c *Config){
		"forest":  func(c *Config) { c.Scorer, c.Transform, c.Trees, c.Depth = forestScorer, "raw", 5, 4 },
		"leaves":  func(c *Config) { c.Scorer, c.Transform, c.Trees, c.Leaves, c.Sampling = forestScorer, "raw", 5, 12, .7 },
		"linear":  func(c *Config) { c.Transform, c.Hidden = "maxabs", nil },
		"network": func(c *Config) { c.Transform, c.Hidden, c.Dropout = "maxabs", []int{8}, .2 },
		"members": func(c *Config) {
			c.Transform, c.Members, c.Activation, c.Optimizer, c.GroupLasso = "maxabs", 2, ops.SwiGLU, "adamw", .001
		},
		"shards":    func(c *Config) { c.Transform, c.Hidden, c.Shards, c.Average = "maxabs", []int{40}, 3, .9 },
		"attention": func(c *Config) { c.Transform, c.Scorer, c.Hidden, c.Heads = "maxabs", "attention", []int{8}, 2 },
		"no scale":  func(c *Config) { c.Transform, c.Hidden = "none", []int{8} },
	} {
		c := Default()
		c.Loss, c.Metric, c.Epochs, c.Members, c.Patience = "softmax", "ndcg@10", 3, 1, 0
		change(&c)
		var files [2]bytes.Buffer
		var models [2]*ranker.Model
		for i, s := range []*datasets.Splits{dense, sparse} {
			r, err := Run(t.Context(), c, s, Hooks{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if models[i] = r.Model; r.History[2].Vali["ndcg@10"] < .4 {
				t.Errorf("%s: %v", name, r.History[2])
			}
			f := *r.Model.File()
			if f.Sparse != s.Train.IsSparse() {
				t.Errorf("%s: the file says that documents are sparse: %t", name, f.Sparse)
			}
			f.Sparse = false
			if err := f.Write(&files[i]); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
			t.Errorf("%s: the model of sparse documents differs", name)
		}
		scoresOfSparseDocuments(t, name, models[0], dense.Vali, sparse.Vali)
		all = append(all, models[0])
	}
	weights := make([]float64, len(all))
	for i := range weights {
		weights[i] = math.Sqrt(float64(2 + i))
	}
	f, err := ranker.Mix(weights, all...)
	if err != nil {
		t.Fatal(err)
	}
	mixture, err := ranker.New(f)
	if err != nil {
		t.Fatal(err)
	}
	scoresOfSparseDocuments(t, "mixture", mixture, dense.Vali, sparse.Vali)
	few := []int{0, 1, 2, 3}
	want, err := Importances(t.Context(), Default(), Custom{}, mixture, dense.Vali.Select(few), 2)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Importances(t.Context(), Default(), Custom{}, mixture, sparse.Vali.Select(few), 2)
	if err != nil || !slices.Equal(got, want) || got[0].Mean < .01 {
		t.Errorf("the importances of sparse documents are %v, want %v, %v", got[:3], want[:3], err)
	}
}

// scoresOfSparseDocuments checks that a model gives sparse documents the scores of dense ones, by their values that are not 0.
func scoresOfSparseDocuments(t *testing.T, name string, model *ranker.Model, dense, sparse *datasets.Dataset) {
	t.Helper()
	want, err := datasets.Score(model, dense)
	if err != nil {
		t.Fatal(err)
	}
	got, err := datasets.Score(model, sparse)
	if err != nil || !slices.Equal(got, want) || !model.TakesSparse() {
		t.Fatalf("%s: the scores of dense and sparse documents differ, %v", name, err)
	}
}

func TestSettingsThatSparseDocumentsCannotHave(t *testing.T) {
	_, sparse := bags()
	for name, change := range map[string]func(c *Config){
		"quantile":    func(c *Config) { c.Transform = "quantile" },
		"bins":        func(c *Config) { c.Transform, c.Bins = "maxabs", 8 },
		"categorical": func(c *Config) { c.Transform, c.Categorical = "maxabs", Features{"7"} },
	} {
		c := Default()
		change(&c)
		if _, err := New(c, Custom{}, sparse); err == nil || !strings.Contains(err.Error(), "sparse") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
