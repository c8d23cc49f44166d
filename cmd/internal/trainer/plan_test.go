package trainer

import (
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// sizes are training data that have plans of their own: of LETOR's kind, a table with features of the query, and large.
func sizes() map[string]*datasets.Splits {
	letor := func() *datasets.Splits {
		return datasets.Synthetic(datasets.SyntheticOptions{Train: 12, Vali: 6, Test: 4, Seed: 3})
	}
	table := letor()
	d := table.Train
	for q := range d.Queries() {
		for row := d.Offsets[q]; row < d.Offsets[q+1]; row++ {
			for c := range d.Width() / 2 {
				d.Features[row*d.Width()+c] = float32((q*7 + c) % 5)
			}
		}
	}
	const rows = 150_000
	large := &datasets.Splits{Vali: table.Vali, Test: table.Test, Train: &datasets.Dataset{
		Labels: make([]float32, rows), Features: make([]float32, rows), FeatureIDs: []int{1}, Offsets: []int{0, rows / 2, rows},
	}}
	return map[string]*datasets.Splits{"LETOR": letor(), "a table": table, "large": large}
}

// planFor returns the models that a command line chooses for data.
func planFor(t *testing.T, s *datasets.Splits, args ...string) ([]train.Config, *options, error) {
	t.Helper()
	o, err := parse(append([]string{"-data", "folder"}, args...))
	if err != nil {
		return nil, nil, err
	}
	if err := chooseRecipe(o, s); err != nil {
		return nil, nil, err
	}
	if o.Models == nil {
		return []train.Config{o.Config}, o, nil
	}
	return o.Models, o, nil
}

// otherValues returns values of a flag that may differ from those of a plan.
func otherValues(row train.Setting) []string {
	switch row.Value.(type) {
	case *bool:
		return []string{"true", "false"}
	case *[]int:
		return []string{"8"}
	case *train.Features:
		return []string{"3"}
	case *[]string:
		if row.Flag == "at-least" {
			return []string{"A: 0.3"}
		}
		return []string{"mrr"}
	case *string, *ops.Activation:
		switch row.Flag {
		case "loss":
			return []string{"lambdarank"}
		case "metric":
			return []string{"map"}
		case "transform":
			return []string{"standard"}
		}
		return row.Names()
	}
	return []string{"0.25", "7", "1"}
}

// Each flag changes its setting in every model that has it, says so, and changes nothing else. Those that can be but one kind leave out
// the others: -scorer, and the constraints of forests.
func TestFlagsChangeWhatTheySay(t *testing.T) {
	t.Parallel()
	for name, s := range sizes() {
		before, _, err := planFor(t, s)
		if err != nil || len(before) < 2 {
			t.Fatal(name, len(before), err)
		}
		for at, row := range new(train.Config).Settings() {
			changed := false
			for _, value := range otherValues(row) {
				after, o, err := planFor(t, s, "-"+row.Flag+"="+value)
				if err != nil {
					continue
				}
				from := before
				switch row.Flag {
				case "scorer", "at-least":
					if changed = true; len(after) != 1 || after[0].Scorer != value && row.Flag == "scorer" {
						t.Errorf("%s, -%s %s: %+v", name, row.Flag, value, after)
					}
					continue
				case "rising", "falling":
					from = slices.DeleteFunc(slices.Clone(before), func(c train.Config) bool { return c.Scorer != "forest" })
				}
				if len(after) != len(from) {
					t.Errorf("%s, -%s %s: %d models, want %d", name, row.Flag, value, len(after), len(from))
					continue
				}
				differs := false
				for i := range after {
					differs = onlyChanges(t, name+", -"+row.Flag+" "+value, at, from[i], after[i]) || differs
				}
				if said := strings.Contains(o.recipe, "-"+row.Flag+" "); differs && len(after) > 1 && !said {
					t.Errorf("%s: -%s %s is not said: %s", name, row.Flag, value, o.recipe)
				}
				changed = changed || differs
			}
			idle := !slices.ContainsFunc(before, func(c train.Config) bool { return !slices.Contains(recipe.Idle(c), row.Flag) })
			if changed == idle {
				t.Errorf("%s: -%s changes a model: %t, want %t", name, row.Flag, changed, !idle)
			}
		}
	}
}

// onlyChanges reports whether a model has another value of a setting, which it must have if the setting has an effect on it; no other
// setting may differ.
func onlyChanges(t *testing.T, what string, setting int, before, after train.Config) (changed bool) {
	t.Helper()
	was := before.Settings()
	for i, row := range after.Settings() {
		if row.Text() == was[i].Text() {
			continue
		}
		if changed = true; i != setting {
			t.Errorf("%s: %s is %s, was %s", what, row.Flag, row.Text(), was[i].Text())
		}
	}
	return changed
}

// Who sets the leaves of trees alone, as for LightGBM, is told of the depth that the recipe keeps.
func TestLeavesHaveADepth(t *testing.T) {
	t.Parallel()
	s := sizes()["LETOR"]
	for args, want := range map[string]bool{
		"": false, "-leaves 40": true, "-leaves forest:40": true, "-leaves 40 -depth 5": false, "-leaves 40 -depth 0": false, "-leaves 0": false,
	} {
		models, o, err := planFor(t, s, strings.Fields(args+" -scorer forest")...)
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(o.recipe, "-leaves 40: to depth 6, by the recipe; -depth 0 is any depth"); said != want {
			t.Errorf("%s: depth %d, %s", args, models[0].Depth, o.recipe)
		}
	}
}

// A value with a kind before it is for models of that kind alone. A kind that is not trained, or a value that cannot be read, is refused.
func TestFlagsOfAKind(t *testing.T) {
	t.Parallel()
	s := sizes()["LETOR"]
	before, _, _ := planFor(t, s)
	after, o, err := planFor(t, s, "-lr", "forest:0.25", "--epochs=network:7")
	if err != nil || !strings.Contains(o.recipe, "-lr 0.25: for every forest") {
		t.Fatal(err)
	}
	for i, c := range after {
		want := before[i]
		if c.Scorer == "forest" {
			want.LearningRate = 0.25
		} else {
			want.Epochs = 7
		}
		if cTexts, wantTexts := texts(c), texts(want); !slices.Equal(cTexts, wantTexts) {
			t.Errorf("model %d: %v, want %v", i+1, cTexts, wantTexts)
		}
	}
	for _, args := range [][]string{{"-lr", "forest:x"}, {"-scorer", "mlp", "-lr", "forest:0.1"}, {"-lr", "tree:0.1"}, {"-scorer", "mlp", "-rising", "3"}} {
		if _, _, err := planFor(t, s, args...); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}

func texts(c train.Config) (list []string) {
	for _, row := range c.Settings() {
		list = append(list, row.Flag+" "+row.Text())
	}
	return list
}
