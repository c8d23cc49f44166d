package datasets

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// ndcg gives a function that is the mean NDCG@cutoff (gain 2^label − 1, discount 1/log2(rank+1)) of
// ranking by score, over queries that have a relevant document.
func ndcg(d *Dataset, cutoff int) func(score func(r int) float64) float64 {
	dcg := func(q int, score func(r int) float64) (v float64) {
		var top []int // rows up to the cutoff, equal scores in their order
		var values []float64
		for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
			s, at := score(r), len(top)
			for at > 0 && values[at-1] < s {
				at--
			}
			if at < cutoff {
				top, values = slices.Insert(top, at, r), slices.Insert(values, at, s)
				top, values = top[:min(cutoff, len(top))], values[:min(cutoff, len(top))]
			}
		}
		for k, r := range top {
			v += (math.Exp2(float64(d.Labels[r])) - 1) / math.Log2(float64(k+2))
		}
		return v
	}
	ideals := make([]float64, d.Queries())
	for q := range ideals {
		ideals[q] = dcg(q, func(r int) float64 { return float64(d.Labels[r]) })
	}
	return func(score func(r int) float64) float64 {
		sum, n := 0.0, 0
		for q, ideal := range ideals {
			if ideal > 0 {
				sum += dcg(q, score) / ideal
				n++
			}
		}
		return sum / float64(n)
	}
}

// leastSquares fits labels by a linear model of all inputs of a transform.
func leastSquares(t *testing.T, spec string, train, test *Dataset) float64 {
	transform, err := FitTransform(spec, train)
	if err != nil {
		t.Fatal(err)
	}
	width := transform.Width()
	inputs := func(d *Dataset) []float32 {
		x := make([]float32, d.Rows()*width)
		for q := range d.Queries() {
			from, to := d.Offsets[q], d.Offsets[q+1]
			transform.Query(x[from*width:to*width], d.Features[from*d.Width():to*d.Width()])
		}
		return x
	}
	x := inputs(train)
	gram, moment := mat.NewSymDense(width+1, nil), mat.NewVecDense(width+1, nil)
	design := mat.NewDense(train.Rows(), width+1, nil)
	for r, label := range train.Labels {
		row := design.RawRowView(r)
		for i, v := range x[r*width : (r+1)*width] {
			row[i] = float64(v)
		}
		row[width] = 1
		moment.AddScaledVec(moment, float64(label), design.RowView(r))
	}
	gram.SymOuterK(1, design.T())
	for i := range width + 1 {
		gram.SetSym(i, i, gram.At(i, i)+1)
	}
	var cholesky mat.Cholesky
	if !cholesky.Factorize(gram) {
		t.Fatal("the normal equations are singular")
	}
	var w mat.VecDense
	if err := cholesky.SolveVecTo(&w, moment); err != nil {
		t.Fatal(err)
	}
	x = inputs(test)
	return ndcg(test, 5)(func(r int) float64 {
		s := 0.0
		for i, v := range x[r*width : (r+1)*width] {
			s += float64(v) * w.AtVec(i)
		}
		return s
	})
}

// The hidden relevance ranks well; no feature does, nor does a linear model.
func TestSyntheticNeedsMoreThanALinearModel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shape   *shape
		queries [3]int
		linear  string // inputs of the linear model
	}{
		{shapes[0], [3]int{40, 1, 40}, "minmax+log-standard"},
		{shapes[1], [3]int{60, 1, 30}, "minmax"},
		{shapes[2], [3]int{20, 1, 40}, "minmax+log-standard"},
		{shapes[3], [3]int{150, 1, 100}, "minmax+quantile"},
	} {
		parts := c.shape.synthesize(truths[0], "", c.queries, 0)
		test := parts[2].data
		ndcg := ndcg(test, 5)
		latent := ndcg(func(r int) float64 { return float64(parts[2].latent[r]) })
		single := 0.0
		for f := range test.Width() {
			for _, sign := range []float64{1, -1} {
				single = max(single, ndcg(func(r int) float64 { return sign * float64(test.Row(r)[f]) }))
			}
		}
		random := ndcg(func(int) float64 { return 0 })
		linear := leastSquares(t, c.linear, parts[0].data, test)
		t.Logf("%s: NDCG@5: latent %.3f, linear %.3f, best single feature %.3f, as is %.3f", c.shape.name, latent, linear, single, random)
		if linear > latent-0.25 || single > latent-0.25 {
			t.Errorf("%s: the linear model or a single feature come close to the latent relevance", c.shape.name)
		}
	}
}

func TestSyntheticHasTheShapeOfMSLR(t *testing.T) {
	t.Parallel()
	s := Synthetic(SyntheticOptions{Vali: 20, Test: 1})
	d := s.Train
	checkShape(t, d)
	counts := map[float32]float64{}
	for _, label := range d.Labels {
		counts[label] += 1 / float64(d.Rows())
	}
	for grade, want := range []float64{.515, .325, .134, .018, .008} { // MSLR-WEB30K
		if got := counts[float32(grade)]; math.Abs(got-want) > .002 {
			t.Errorf("grade %d has frequency %.4f, want %.3f", grade, got, want)
		}
	}
	if mean := float64(d.Rows()) / float64(d.Queries()); mean < 110 || mean > 130 {
		t.Errorf("mean list length %.1f, want about 120", mean)
	}
	free, short := 0, 0
	for q := range d.Queries() {
		if d.Offsets[q+1]-d.Offsets[q] <= 10 {
			short++
		}
		if slices.Max(d.Labels[d.Offsets[q]:d.Offsets[q+1]]) == 0 {
			free++
		}
	}
	if free < 10 || short < 5 {
		t.Errorf("%d label-free and %d short queries of %d", free, short, d.Queries())
	}
	if high := slices.Max(d.Features); high < 1e7 || high > 1.6e8 {
		t.Errorf("largest feature %g", high)
	}
	if !slices.Equal(s.Train.FeatureIDs, s.Test.FeatureIDs) || s.Vali.QueryIDs[0] != "801" {
		t.Error("splits do not fit together")
	}
	again := Synthetic(SyntheticOptions{Train: 2, Vali: 1, Test: 1})
	if !slices.Equal(again.Train.Row(0), d.Row(0)) {
		t.Error("another draw for the same seed")
	}
	other := Synthetic(SyntheticOptions{Train: 2, Vali: 1, Test: 1, Seed: 1})
	if slices.Equal(other.Train.Row(0), d.Row(0)) {
		t.Error("the seed has no effect")
	}
}

// The panic says which split is wrong, and what is right.
func TestSyntheticPanicsForNegativeNumbers(t *testing.T) {
	defer func() {
		if got := fmt.Sprint(recover()); got != "datasets: -1 queries of the vali split: want 1 or more, or 0 for a default" {
			t.Error(got)
		}
	}()
	Synthetic(SyntheticOptions{Vali: -1})
}
