package train

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
)

// sumOfTwo is queries whose labels are the sum of features 1 and 2; 3 is the same in
// all documents of a query, and 4 is noise.
func sumOfTwo(queries int, seed uint64) *datasets.Dataset {
	rng := rand.New(rand.NewPCG(seed, 0))
	d := &datasets.Dataset{Name: "sum", FeatureIDs: []int{1, 2, 3, 4}, Offsets: []int{0}}
	for q := range queries {
		for range 10 {
			a, b := rng.IntN(3), rng.IntN(2)
			d.Features = append(d.Features, float32(a), float32(b), float32(q%2), rng.Float32())
			d.Labels = append(d.Labels, float32(a+b))
		}
		d.Offsets = append(d.Offsets, len(d.Labels))
		d.QueryIDs = append(d.QueryIDs, string(rune('a'+q)))
	}
	return d
}

func measured(t *testing.T) (Config, *Trainer, *Result) {
	t.Helper()
	c := smallRecipe()
	c.Epochs, c.Members, c.Transform, c.Hidden = 8, 1, "standard", nil
	trainer, err := New(c.Plain(), Parts{}, &datasets.Splits{Train: sumOfTwo(20, 1), Vali: sumOfTwo(8, 2), Test: sumOfTwo(9, 3)})
	if err != nil {
		t.Fatal(err)
	}
	result, err := trainer.Run(t.Context(), Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	return c, trainer, result
}

// model is the trained model as package ranker uses it.
func model(t *testing.T, result *Result) *ranker.Model {
	t.Helper()
	m := result.Model
	return m
}

// Evaluate gives what the report of the run gives.
func TestEvaluate(t *testing.T) {
	c, trainer, result := measured(t)
	report, err := trainer.Report(result.Model)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Evaluate(c.Plain(), Parts{}, model(t, result), Split{"vali", sumOfTwo(8, 2)}, Split{"test", sumOfTwo(9, 3)})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Metrics, report.Metrics) || len(got.Splits) != 2 {
		t.Fatalf("%v, want %v", got.Metrics, report.Metrics)
	}
	for i, s := range got.Splits {
		of := report.Splits[i+1]
		if s.Name != of.Name || s.Relevant != of.Relevant || s.Documents != of.Documents {
			t.Errorf("%+v, want %+v", s, of)
		}
		for _, m := range got.Metrics {
			if a, b := s.Value(0, m), of.Value(0, m); a != b {
				t.Errorf("%s, random order: %s %v, want %v", s.Name, m, a, b)
			}
			if a, b := s.Value(1, m), of.Value(len(of.Rankers)-1, m); a != b {
				t.Errorf("%s: %s %v, want %v", s.Name, m, a, b)
			}
		}
	}
	if _, err := Evaluate(c.Plain(), Parts{}, model(t, result), Split{"none", &datasets.Dataset{Name: "none", FeatureIDs: []int{1, 2, 3, 4}, Offsets: []int{0}}}); err == nil {
		t.Error("nothing to measure, and no error")
	}
}

// The features that make the label are the important ones, the wider first; one that
// all documents of a query share is worth nothing at all.
func TestImportances(t *testing.T) {
	t.Parallel()
	c, _, result := measured(t)
	d := sumOfTwo(30, 4)
	before := slices.Clone(d.Features)
	list, err := Importances(t.Context(), c.Plain(), Parts{}, model(t, result), d, 3)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Features, before) {
		t.Error("the features of the data are others now")
	}
	of := map[int]Importance{}
	for _, i := range list {
		of[i.Feature] = i
	}
	if list[0].Feature != 1 || list[1].Feature != 2 || list[1].Mean < 0.01 || list[0].SD <= 0 {
		t.Errorf("%+v", list)
	}
	if i, ok := of[3]; ok && (i.Mean != 0 || i.SD != 0) {
		t.Errorf("a feature that is the same in a query: %+v", i)
	}
	if i := of[4]; math.Abs(float64(i.Mean)) > 0.01 {
		t.Errorf("noise: %+v", i)
	}
	again, err := Importances(t.Context(), c.Plain(), Parts{}, model(t, result), d, 3)
	if err != nil || !slices.Equal(again, list) {
		t.Errorf("again %+v, %v", again, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Importances(ctx, c.Plain(), Parts{}, model(t, result), d, 3); err != context.Canceled {
		t.Errorf("interrupted: %v", err)
	}
	if _, err := Importances(t.Context(), c.Plain(), Parts{}, model(t, result), d, 0); err == nil || !strings.Contains(err.Error(), "0 repeats: want 1 or more") {
		t.Errorf("no repeats: %v", err)
	}
	if once, err := Importances(t.Context(), c.Plain(), Parts{}, model(t, result), d, 1); err != nil || once[0].SD == once[0].SD {
		t.Errorf("one repeat: %+v, %v", once, err)
	}
}
