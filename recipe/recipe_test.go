package recipe

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// Data below the bound get the small recipe, with ranks for short queries, and for long ones what is missing, a larger K,
// more softmax and more against noise; above it, the group lasso falls with the number of documents, and very many
// are trained on for longer, at a lower rate.
func TestRecipes(t *testing.T) {
	short, long := train.Default(), train.Default()
	long.Cutoff, long.Loss, long.Transform = 20, "plrank-exact+0.1*softmax", "minmax+log-standard+quantile+missing"
	long.Dropout, long.Optimizer, long.WeightDecay = 0.5, "adamw", 1
	for _, of := range []struct {
		documents, queries int
		want               train.Config
	}{{largeFrom - 1, largeFrom/longFrom + 1, short}, {longFrom, 1, long}} {
		c, reason := recipeOf(of.documents, of.queries, 4, 0)
		if err := c.Check(); err != nil || reason == "" || !reflect.DeepEqual(c, of.want) {
			t.Errorf("%d documents of %d queries: %+v, want %+v (%q, %v)", of.documents, of.queries, c, of.want, reason, err)
		}
	}
	want, _ := recipeOf(largeFrom, 1000, 4, 0)
	for _, documents := range []int{largeFrom, slowFrom - 1, slowFrom, 1_000_000_000} {
		c, reason := recipeOf(documents, 1000, 4, 0)
		if err := c.Check(); err != nil || reason == "" {
			t.Errorf("%d documents: %v, %q", documents, err, reason)
		}
		if penalty := c.GroupLasso * math.Sqrt(float64(documents)); math.Abs(penalty-45) > 1e-9 {
			t.Errorf("%d documents: group lasso %v, want 45 divided by their root", documents, c.GroupLasso)
		}
		want.GroupLasso = c.GroupLasso
		if documents >= slowFrom {
			want.LearningRate, want.Average, want.Dropout = 0.002, 0.998, 0.1
			want.Epochs, want.EpochsPerPass, want.Warmup = 40, 2, 0.2
			want.Loss = "plrank-exact+0.02*query-rmse(8)"
		}
		if !reflect.DeepEqual(c, want) {
			t.Errorf("%d documents: %+v, want %+v", documents, c, want)
		}
	}
}

// A flag that changes every model in the same way is told of in a few words.
func TestSameChangeOfEveryModelIsToldOnce(t *testing.T) {
	plan := Plan{Models: []train.Config{train.Default(), train.Default()}}
	c := train.Default()
	c.Seed = 7
	if _, changes := plan.With(c, "seed"); !slices.Equal(changes, []string{"-seed 7: for every model (which had 0)"}) {
		t.Errorf("%q", changes)
	}
	plan.Models[1].Seed = 5
	if _, changes := plan.With(c, "seed"); !slices.Equal(changes, []string{"-seed 7: for model 1 (which had 0), 2 (which had 5)"}) {
		t.Errorf("%q", changes)
	}
}

// Large data have a forest on another loss, and large tables one of other trees, too.
func TestRecipesOfForests(t *testing.T) {
	for _, of := range []struct {
		documents      int
		ofQuery        float64
		loss           string
		bins, leaves   int
		rate, features float64
	}{
		{largeFrom - 1, 0, "softmax", 64, 0, 0.05, 0},
		{largeFrom - 1, tablesFrom, "softmax", 64, 0, 0.05, 0},
		{largeFrom, 0, "query-rmse", 255, 0, 0.3, 0},
		{largeFrom, tablesFrom, "ranknet", 64, 63, 0.05, 0.5},
	} {
		s := &datasets.Splits{Train: &datasets.Dataset{Labels: make([]float32, of.documents)}}
		c, reason := recipeFor(ranker.ForestKind, s, of.ofQuery)
		if err := c.Check(); err != nil || c.Loss != of.loss || c.Bins != of.bins || c.Leaves != of.leaves || c.LearningRate != of.rate || c.FeatureSampling != of.features {
			t.Errorf("%+v: %+v (%q, %v)", of, c, reason, err)
		}
	}
}

// The squared error is of labels that are brought to one range, whatever their grades.
func TestLargeRecipeByTheHighestLabel(t *testing.T) {
	for highest, scale := range map[float64]string{4: "2", 1: "8", 3: "2.67", 0: "1", 1e30: "1e-06", 1e-30: "1e+06"} {
		c, _ := recipeOf(largeFrom, 1000, highest, 0)
		if err := c.Check(); err != nil || c.Loss != "plrank-exact+0.02*query-rmse("+scale+")" {
			t.Errorf("labels up to %v: %s, want the scale %s (%v)", highest, c.Loss, scale, err)
		}
	}
	d := datasets.Synthetic(datasets.SyntheticOptions{Train: 2, Vali: 1, Test: 1, Seed: 3}).Train
	for i := range d.Labels {
		d.Labels[i] = -1
	}
	if highest := d.HighestLabel(); highest != 0 {
		t.Errorf("labels of -1: the highest is %v, want 0", highest)
	}
	d.Labels[1] = 3
	if highest := d.HighestLabel(); highest != 3 {
		t.Errorf("labels of -1 and 3: the highest is %v", highest)
	}
}

// Gains from clicks change what cannot go by them, and validation by labels stays.
func TestPlanForGainsFromClicks(t *testing.T) {
	s := datasets.Synthetic(datasets.SyntheticOptions{Train: 2, Vali: 1, Test: 1, Seed: 3})
	want := Single("mlp", s).Models[0]
	s.Train.Gains = make([]float64, s.Train.Rows())
	want.Loss, want.NormalizeGains = "plrank-exact", false
	if c := Single("mlp", s).Models[0]; !reflect.DeepEqual(c, want) {
		t.Errorf("%+v, want %+v", c, want)
	}
	s.Vali.Gains = make([]float64, s.Vali.Rows())
	want.Metric = train.LossMetric
	if p := Single("mlp", s); !reflect.DeepEqual(p.Models[0], want) || !strings.HasSuffix(p.Reason, ", for gains from clicks") {
		t.Errorf("%+v, want %+v", p, want)
	}
}

// The paper's set-up, as PLACKETT_LUCE.md section 8 has it.
func TestPaper(t *testing.T) {
	c := Paper()
	want := train.Config{
		Objective:    train.Objective{Loss: "plrank2", Cutoff: 5, Samples: train.Dynamic, Gain: "exp2", Discounts: "dcg"},
		Inputs:       train.Inputs{Transform: "minmax"},
		Model:        train.Model{Scorer: "mlp", Hidden: []int{32, 32}, Activation: ops.Sigmoid, Blocks: 1, Heads: 2},
		Optimization: train.Optimization{Optimizer: "sgd", LearningRate: 0.01, Momentum: 0.9, WeightDecay: 0.01, Decay: 1, Schedule: "constant", Batch: 1, Shards: 1, OnNaN: "stop", Epochs: 40},
		Evaluation:   train.Evaluation{Metric: "expected-dcg@5", LabelFree: "skip", Ties: "random", DropLabelFreeTest: true},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v", c)
	}
}

func TestPlanWithoutModelsIsRefused(t *testing.T) {
	if _, err := (Plan{}).Run(t.Context(), &datasets.Splits{Train: &datasets.Dataset{}}, train.Hooks{}); err == nil || !strings.Contains(err.Error(), "no models") {
		t.Error(err)
	}
}
