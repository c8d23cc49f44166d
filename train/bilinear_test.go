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
	"github.com/plrank/plrank/metrics"
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

// A bilinear product finds a map between two spaces, which the model file keeps: files and rows are scored alike.
func TestBilinearProductsAreLearned(t *testing.T) {
	s := turned(t, 400, "standard+bilinear(q,d,4)")
	c := Default()
	c.Transform, c.Loss, c.Epochs, c.Metric = "standard+bilinear(q,d,4)", "softmax", 5, "ndcg@10"
	if _, err := New(c, Custom{}, s); err == nil || !strings.Contains(err.Error(), "bilinear(q,d,4) is not learned") {
		t.Errorf("error %v", err)
	}
	fitted, err := FitProducts(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if s.Train.Products[0].Learned() || &fitted.Train.Features[0] == &s.Train.Features[0] {
		t.Error("the data have changed")
	}
	result, err := Run(t.Context(), c, fitted, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	scores, err := datasets.Score(result.Model, fitted.Vali)
	if err != nil {
		t.Fatal(err)
	}
	measure, err := metrics.ParseMeasure("ndcg@10")
	if err != nil {
		t.Fatal(err)
	}
	if best := result.History[result.BestEpoch-1].Vali[measure.String()]; best < .98 {
		t.Errorf("NDCG@10 %v", best)
	}
	if _, err := datasets.Score(result.Model, s.Vali); err == nil || !strings.Contains(err.Error(), "other products of vectors") {
		t.Errorf("scores of data with the cosine: error %v", err)
	}
	var file strings.Builder
	if err := result.Model.File().Write(&file); err != nil {
		t.Fatal(err)
	}
	m, err := ranker.Read(strings.NewReader(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	d := fitted.Vali
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

// The gradient of the loss is what finite differences give.
func TestBilinearGradientIsOfTheLoss(t *testing.T) {
	d := turned(t, 20, "raw+bilinear(q,d,3)").Train
	d.QueryWeights = slices.Repeat([]float32{2}, d.Queries())
	m, err := newBilinear(d, d.Products[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := m.begin(&datasets.Splits{Train: d}); err != nil {
		t.Fatal(err)
	}
	for i := range m.numbers {
		m.numbers[i] += .1 * math.Sin(float64(i))
	}
	gradient, queries := make([]float64, len(m.numbers)), []int{0, 2, 5}
	m.loss(d, gradient, queries)
	for i, g := range gradient {
		const step = 1e-5
		at := m.numbers[i]
		m.numbers[i] = at + step
		up := m.loss(d, nil, queries)
		m.numbers[i] = at - step
		down := m.loss(d, nil, queries)
		m.numbers[i] = at
		if slope := (up - down) / 2 / step; math.Abs(slope-g) > 1e-6 {
			t.Errorf("number %d: %v, want %v", i, g, slope)
		}
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
