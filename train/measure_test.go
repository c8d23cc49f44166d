package train

import (
	"context"
	"fmt"
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
	c := Default()
	c.Epochs, c.Members, c.Transform, c.Hidden = 8, 1, "standard", nil
	trainer, err := New(c.Plain(), Custom{}, &datasets.Splits{Train: sumOfTwo(20, 1), Vali: sumOfTwo(8, 2), Test: sumOfTwo(9, 3)})
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
	got, err := Evaluate(c.Plain(), Custom{}, model(t, result), Split{"vali", sumOfTwo(8, 2)}, Split{"test", sumOfTwo(9, 3)})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Metrics, report.Metrics) || len(got.Splits) != 2 {
		t.Fatalf("%v, want %v", got.Metrics, report.Metrics)
	}
	for i, s := range got.Splits {
		split := report.Splits[i+1]
		if s.Name != split.Name || s.Relevant != split.Relevant || s.Documents != split.Documents {
			t.Errorf("%+v, want %+v", s, split)
		}
		for _, m := range got.Metrics {
			if a, b := s.Value(0, m), split.Value(0, m); a != b {
				t.Errorf("%s, random order: %s %v, want %v", s.Name, m, a, b)
			}
			if a, b := s.Value(1, m), split.Value(len(split.Rankers)-1, m); a != b {
				t.Errorf("%s: %s %v, want %v", s.Name, m, a, b)
			}
		}
	}
	if _, err := Evaluate(c.Plain(), Custom{}, model(t, result), Split{"none", &datasets.Dataset{Name: "none", FeatureIDs: []int{1, 2, 3, 4}, Offsets: []int{0}}}); err == nil {
		t.Error("nothing to measure, and no error")
	}
}

// The features that make the label are the important ones, the wider first; one that
// all documents of a query share is worth nothing at all to a linear model.
func TestImportances(t *testing.T) {
	t.Parallel()
	c, _, result := measured(t)
	d := sumOfTwo(30, 4)
	before := slices.Clone(d.Features)
	list, err := Importances(t.Context(), c.Plain(), Custom{}, model(t, result), d, 3)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Features, before) {
		t.Error("the features of the data are others now")
	}
	byFeature := map[int]Importance{}
	for _, i := range list {
		byFeature[i.Feature] = i
	}
	if list[0].Feature != 1 || list[1].Feature != 2 || list[1].Mean < 0.01 || list[0].SD <= 0 {
		t.Errorf("%+v", list)
	}
	if i, ok := byFeature[3]; ok && math.Abs(float64(i.Mean)) > 1e-6 {
		t.Errorf("a feature that is the same in a query: %+v", i)
	}
	if i := byFeature[4]; math.Abs(float64(i.Mean)) > 0.01 {
		t.Errorf("noise: %+v", i)
	}
	again, err := Importances(t.Context(), c.Plain(), Custom{}, model(t, result), d, 3)
	if err != nil || !slices.Equal(again, list) {
		t.Errorf("again %+v, %v", again, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Importances(ctx, c.Plain(), Custom{}, model(t, result), d, 3); err != context.Canceled {
		t.Errorf("interrupted: %v", err)
	}
	if _, err := Importances(t.Context(), c.Plain(), Custom{}, model(t, result), d, 0); err == nil || !strings.Contains(err.Error(), "0 repeats: want 1 or more") {
		t.Errorf("no repeats: %v", err)
	}
	if once, err := Importances(t.Context(), c.Plain(), Custom{}, model(t, result), d, 1); err != nil || once[0].SD == once[0].SD {
		t.Errorf("one repeat: %+v, %v", once, err)
	}
}

// matched is queries of a user whose taste, a feature of the query, says which kind of its documents is the relevant one.
func matched(name string, queries int, seed uint64) *datasets.Dataset {
	rng := rand.New(rand.NewPCG(seed, 0))
	d := &datasets.Dataset{Name: name, FeatureIDs: []int{1, 2}, FeatureNames: []string{"taste", "kind"}, Offsets: []int{0}}
	for q := range queries {
		taste := rng.IntN(2)
		for range 6 {
			kind := rng.IntN(2)
			d.Features = append(d.Features, float32(taste), float32(kind))
			d.Labels = append(d.Labels, float32(1-taste^kind))
		}
		d.Offsets = append(d.Offsets, len(d.Labels))
		d.QueryIDs = append(d.QueryIDs, fmt.Sprint(name, q))
	}
	return d
}

// A feature of the query decides together with one of the documents, as number, as category and in bins; it is permuted
// among the queries, and so both are worth as much.
func TestFeaturesOfTheQueryRank(t *testing.T) {
	t.Parallel()
	s := &datasets.Splits{Train: matched("train", 200, 1), Vali: matched("vali", 50, 2), Test: matched("test", 100, 3)}
	for name, change := range map[string]func(c *Config){
		"numbers":    func(*Config) {},
		"categories": func(c *Config) { c.Categorical = []string{"taste", "kind"} },
		"bins":       func(c *Config) { c.Transform, c.Bins = "quantile", 4 },
	} {
		c := Default()
		c.Members, c.Epochs, c.Dropout, c.Hidden, c.Metric, c.GroupLasso, c.LearningRate = 1, 15, 0, []int{16}, "ndcg@10", 0, .01
		change(&c)
		tr := mustNew(t, c.Plain(), s)
		m := mustRun(t, tr, Hooks{}).Model
		report, err := tr.Report(m)
		if err != nil {
			t.Fatal(err)
		}
		if last := report.Splits[2]; float64(last.Value(len(last.Rankers)-1, "ndcg@10")) < .99 || len(tr.Warnings()) > 0 {
			t.Errorf("%s: %+v, warnings %q", name, last.Value(len(last.Rankers)-1, "ndcg@10"), tr.Warnings())
		}
		list, err := Importances(t.Context(), c.Plain(), Custom{}, m, s.Test, 3)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != 2 || list[0].Mean < .1 || list[1].Mean < .1 {
			t.Errorf("%s: importances %+v", name, list)
		}
	}
}
