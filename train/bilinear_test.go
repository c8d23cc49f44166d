package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/transforms"
)

// turned are queries of ten documents whose labels grow with q·(O d), where O turns four dimensions by a right angle, so that the cosine
// says nothing.
func turned(t *testing.T, queries int, transform string) *datasets.Splits {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 0))
	text := "qid,label,x,q,d\n"
	vector := func() (v [4]float32) {
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v
	}
	for i := range queries {
		q := vector()
		for range 10 {
			d := vector()
			product := q[0]*d[1] - q[1]*d[0] + q[2]*d[3] - q[3]*d[2]
			label := min(4, max(0, math.Floor(float64(product)+1)))
			text += fmt.Sprintf("%d,%g,%g,\"%v\",\"%v\"\n", i, label, rng.NormFloat64(), q, d)
		}
	}
	path := filepath.Join(t.TempDir(), "f.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	_, products, err := transforms.SplitSpec(transform)
	if err != nil {
		t.Fatal(err)
	}
	s, err := datasets.Open(path, datasets.Options{Read: datasets.ReadOptions{Vectors: []transforms.Vector{{Name: "q"}, {Name: "d"}}, Products: products}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A bilinear product finds a map between two spaces, as part of a network and as a feature, which the model file keeps: files and rows
// are scored alike, and the network as it was in training.
func TestBilinearProductsAreLearned(t *testing.T) {
	s := turned(t, 400, "standard+bilinear(q,d,4)")
	for _, c := range []struct {
		transform string
		bins      int
		fitted    bool // as a feature
		members   int
		least     float64
	}{{"standard", 0, true, 1, .98}, {"standard", 0, false, 1, .98}, {"quantile", 0, false, 1, .97}, {"quantile", 16, true, 1, .97}, {"minmax", 0, false, 2, .97}} {
		own := s
		if c.fitted {
			var err error
			if own, err = FitProducts(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		config := Default()
		config.Transform, config.Bins, config.Members = c.transform+"+bilinear(q,d,4)", c.bins, c.members
		config.Loss, config.LearningRate, config.Epochs, config.Metric = "softmax", .005, 15, "ndcg@10"
		result, err := Run(t.Context(), config, own, Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		if s.Train.Products[0].Learned() || result.Model.Products()[0].Left == nil {
			t.Error("the data have changed, or the model has not learned")
		}
		best := float64(result.History[result.BestEpoch-1].Vali["ndcg@10"])
		if best < c.least {
			t.Errorf("%+v: NDCG@10 %v", c, best)
		}
		report, err := Evaluate(config, Custom{}, result.Model, Split{"vali", s.Vali})
		if got := float64(report.Splits[0].Rows[len(report.Splits[0].Rows)-1]["ndcg@10"]); err != nil || math.Abs(got-best) > 1e-9 {
			t.Errorf("%+v: the model file has NDCG@10 %v, the network %v, error %v", c, got, best, err)
		}
		checkRows(t, result.Model, s.Vali)
	}
	c := Default()
	c.Scorer = forestScorer
	if _, err := New(c, Custom{}, s); err == nil || !strings.Contains(err.Error(), "bilinear(q,d,4) is not learned") {
		t.Errorf("a forest: error %v", err)
	}
}

// A network with vectors for categories learns products, too, and the linear models that choose and fit them do.
func TestProductsAreLearnedBesideCategories(t *testing.T) {
	s := turned(t, 200, "standard+bilinear(q,d,4)")
	for _, d := range []*datasets.Dataset{s.Train, s.Vali} {
		for r := range d.Rows() {
			d.Row(r)[0] = float32(r % 3)
		}
	}
	c := Default()
	c.Transform, c.Categorical, c.Members, c.LearningRate, c.Epochs, c.Metric = "standard+bilinear(q,d,4)", Features{"x"}, 1, .005, 10, "ndcg@10"
	r, err := Run(t.Context(), c, s, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	if best := r.History[r.BestEpoch-1].Vali["ndcg@10"]; best < .95 {
		t.Errorf("NDCG@10 %v", best)
	}
	checkRows(t, r.Model, s.Vali)
}

// checkRows compares scores of a dataset, whose products are made anew, and of rows with vectors, as a service has them.
func checkRows(t *testing.T, model *ranker.Model, d *datasets.Dataset) {
	t.Helper()
	scores, err := datasets.Score(model, d)
	if err != nil {
		t.Fatal(err)
	}
	var file strings.Builder
	if err := model.File().Write(&file); err != nil {
		t.Fatal(err)
	}
	m, err := ranker.Read(strings.NewReader(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	from, to := d.Offsets[0], d.Offsets[1]
	rows := make([]float32, (to-from)*d.Width())
	for r := from; r < to; r++ {
		rows[(r-from)*d.Width()] = d.Row(r)[0]
	}
	if err := m.Multiply(rows, func(vector, document int) []float32 { return d.Vector(vector, from+document) }); err != nil {
		t.Fatal(err)
	}
	if got, err := m.Score(nil, rows); err != nil || !slices.Equal(got, scores[from:to]) {
		t.Errorf("%v, error %v, want %v", got, err, scores[from:to])
	}
}

func TestFitOfProductsEndsWithTheContext(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := FitProducts(done, turned(t, 20, "raw+bilinear(q,d,2)")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// Validation chooses among no products of vectors, those that the data have, and bilinear ones as well.
func TestValidationChoosesProducts(t *testing.T) {
	turnedSplits := turned(t, 200, "standard+cosine(q,d)")
	// Labels grow with x, and in training with the cosine.
	straight := func(sign float32) *datasets.Splits {
		s := *turned(t, 200, "standard+cosine(q,d)")
		for d, sign := range map[*datasets.Dataset]float32{s.Train: 1, s.Vali: sign} {
			for r := range d.Labels {
				d.Labels[r] = float32(math.Floor(min(4, max(0, float64(2+d.Row(r)[0]+2*sign*d.Row(r)[1])))))
			}
		}
		return &s
	}
	for name, c := range map[string]struct {
		s    *datasets.Splits
		want []string
	}{
		"turned": {turnedSplits, []string{"cosine(q,d)", "bilinear(q,d,4)"}}, "cosine": {straight(1), []string{"cosine(q,d)"}}, "misleading": {straight(-1), nil},
	} {
		chosen, why, err := ChooseProducts(t.Context(), c.s)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []*datasets.Dataset{chosen.Train, chosen.Vali} {
			var got []string
			for _, p := range d.Products {
				if got = append(got, p.Name); !p.Learned() {
					t.Errorf("%s: %s is not learned", name, p.Name)
				}
			}
			if !slices.Equal(got, c.want) || !slices.Equal(d.FeatureNames, append([]string{"x"}, c.want...)) || d.Validate() != nil {
				t.Errorf("%s: %v with the features %v, want %v: %s, error %v", name, got, d.FeatureNames, c.want, why, d.Validate())
			}
		}
		if !strings.Contains(why, "; none: ") || !strings.Contains(why, "; cosine(q,d), bilinear(q,d,4): ") {
			t.Errorf("why: %s", why)
		}
	}
}

// Importances shuffle products of the same vectors together: apart, each would hide behind the other.
func TestProductsOfTwoVectorsMatterTogether(t *testing.T) {
	s := turned(t, 60, "standard+cosine(q,d)+dot(q,d)")
	for r := range s.Vali.Labels { // labels by the cosine
		s.Vali.Labels[r] = float32(math.Floor(2 + 1.9*float64(s.Vali.Row(r)[1])))
	}
	path := filepath.Join(t.TempDir(), "model.npz")
	testkit.LinearModel(t, path, 0, 1, 1)
	m, err := ranker.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	f := *m.File()
	f.FeatureIDs, f.FeatureNames, f.Products = s.Vali.FeatureIDs, s.Vali.FeatureNames, s.Vali.Products
	f.Vectors = []transforms.Vector{{Name: "q", Dimension: 4}, {Name: "d", Dimension: 4}}
	if m, err = ranker.New(&f); err != nil {
		t.Fatal(err)
	}
	c := Default()
	c.Metric = "ndcg@10"
	list, err := Importances(t.Context(), c, Custom{}, m, s.Vali, 5)
	if err != nil {
		t.Fatal(err)
	}
	report, err := Evaluate(c, Custom{}, m, Split{"vali", s.Vali})
	if err != nil {
		t.Fatal(err)
	}
	rows := report.Splits[0].Rows
	random, model := float64(rows[0]["ndcg@10"]), float64(rows[len(rows)-1]["ndcg@10"])
	if len(list) != 2 || list[0].Name != "cosine(q,d), dot(q,d)" || math.Abs(float64(list[0].Mean)-(model-random)) > .05 || list[1].Mean != 0 {
		t.Errorf("%+v, want all of %v less %v of random order", list, model, random)
	}
}
