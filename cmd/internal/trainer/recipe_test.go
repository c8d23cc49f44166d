package trainer

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// The default recipe waits for the size of the data, flags override single settings of it,
// and what was chosen is said in words. Other starting points stay as they are.
func TestRecipeBySize(t *testing.T) {
	t.Parallel()
	const large = 150_000
	d := &datasets.Dataset{Labels: make([]float32, large), Offsets: []int{0, large}}
	data := &datasets.Splits{Train: d}
	models := recipe.For(data).Models
	want := recipe.Single("mlp", data).Models[0]
	if reflect.DeepEqual(want, train.Default()) {
		t.Fatal("the recipe for large data is that for small data")
	}
	for _, c := range []struct {
		args string
		want func(c train.Config) bool
	}{
		{"-data folder", func(c train.Config) bool { return reflect.DeepEqual(c, models[0]) }},
		{"-hidden 7 -epochs 3", func(c train.Config) bool {
			return slices.Equal(c.Hidden, []int{7}) && c.Epochs == 3 && c.LearningRate == want.LearningRate && c.Loss == want.Loss
		}},
		{"-preset default -dropout 0.5", func(c train.Config) bool { return c.Dropout == .5 && c.Transform == want.Transform }},
		{"-preset paper", func(c train.Config) bool { return reflect.DeepEqual(c, recipe.Paper()) }},
	} {
		o, err := parse(strings.Fields(c.args))
		if err != nil {
			t.Fatal(err)
		}
		if err := chooseRecipe(o, data); err != nil || !c.want(o.Config) {
			t.Errorf("%q: %+v, %v", c.args, o.Config, err)
		}
		chosen := o.Preset == cli.ByData
		if says := strings.Contains(o.recipe, "-loss "+want.Loss); strings.Contains(o.recipe, "150000 training documents") != chosen || says != (chosen && o.Models == nil) {
			t.Errorf("%q: says %q", c.args, o.recipe)
		}
		before := o.Config
		if err := chooseRecipe(o, nil); err != nil || !reflect.DeepEqual(o.Config, before) {
			t.Errorf("%q: chosen a second time: %+v, %v", c.args, o.Config, err)
		}
	}
}

// What was chosen is in config.json: a run goes on with it, and -config starts from it.
func TestRecipeIsRecorded(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "run")
	if status, _, stderr := call("-data", fold(t), "-epochs", "1", "-scorer", "mlp", "-members", "1", "-hidden", "4", "-out", out); status != 0 || !strings.Contains(stderr, "recipe for ") {
		t.Fatalf("%d: %s", status, stderr)
	}
	for _, args := range [][]string{{"-resume", "-out", out}, {"-config", filepath.Join(out, cli.SettingsFile)}} {
		o, err := parse(args)
		if err != nil || o.bySize || o.Members != 1 || o.Epochs != 1 {
			t.Errorf("%v: %+v, %v", args, o, err)
		}
	}
}

// All folds have the recipe of the first.
func TestRecipeOfFolds(t *testing.T) {
	t.Parallel()
	o, err := parse([]string{"-data", "folder", "-folds", "all"})
	if err != nil {
		t.Fatal(err)
	}
	if err := chooseRecipe(o, &datasets.Splits{Train: &datasets.Dataset{Labels: make([]float32, 150_000)}}); err != nil {
		t.Fatal(err)
	}
	second := ofFold(o, 2)
	if err := chooseRecipe(second, nil); err != nil || !reflect.DeepEqual(second.Config, o.Config) {
		t.Errorf("%+v, want %+v (%v)", second.Config, o.Config, err)
	}
}
