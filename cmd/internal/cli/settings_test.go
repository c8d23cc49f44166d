package cli

import (
	"encoding/json"
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// A flag of an unknown topic would be explained nowhere.
func TestEveryTopicOfAFlagIsKnown(t *testing.T) {
	for _, row := range topicFlags() {
		if row.Topic != "" && !slices.Contains(Topics(), row.Topic) {
			t.Errorf("-%s has the topic %q", row.Name, row.Topic)
		}
	}
}

// Every flag of training sets the setting of its name and no other, and every setting has one.
func TestEveryFlagIsASetting(t *testing.T) {
	settings := func(c train.Config) map[string]json.RawMessage {
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var byName map[string]json.RawMessage
		if err := json.Unmarshal(text, &byName); err != nil {
			t.Fatal(err)
		}
		return byName
	}
	left := settings(train.Config{})
	var c train.Config
	SettingFlags(&c).Set().VisitAll(func(f *flag.Flag) {
		name := strings.NewReplacer("Nan", "NaN").Replace(camel(f.Name))
		if other, ok := map[string]string{"lr": "learningRate", "normalize": "normalizeGains"}[f.Name]; ok {
			name = other
		}
		before := settings(c)
		if f.Value.Set("true") != nil && f.Value.Set("7") != nil && f.Value.Set("tanh") != nil {
			t.Fatalf("-%s takes none of the values of this test", f.Name)
		}
		for setting, value := range settings(c) {
			if changed := string(value) != string(before[setting]); changed != (setting == name) {
				t.Errorf("-%s: changes %s: %t", f.Name, setting, changed)
			}
		}
		delete(left, name)
	})
	if len(left) > 0 {
		t.Errorf("without a flag: %v", slices.Sorted(maps.Keys(left)))
	}
}

// camel is a name of words with hyphens between, as JSON has it.
func camel(name string) string {
	words := strings.Split(name, "-")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

func TestPresetsAreValid(t *testing.T) {
	for _, name := range Presets() {
		c, err := Preset(name)
		if err != nil || c.Check() != nil {
			t.Errorf("%s: %v, %v", name, err, c.Check())
		}
	}
	if _, err := Preset("best"); err == nil || !strings.Contains(err.Error(), "default, paper") {
		t.Errorf("got %v", err)
	}
}

// Flags override a recipe, with zeros too; its metric is not the one for a sum of losses.
func TestGivenFlagsOverrideARecipe(t *testing.T) {
	for _, test := range []struct {
		args string
		want func(*train.Config)
	}{
		{"", func(*train.Config) {}},
		{"-dropout 0 -normalize=false -hidden= -lr 0.5", func(c *train.Config) {
			c.Dropout, c.NormalizeGains, c.Hidden, c.LearningRate = 0, false, nil, 0.5
		}},
		{"-loss softmax", func(c *train.Config) { c.Loss = "softmax" }},
		{"-loss softmax+plrank2", func(c *train.Config) { c.Loss, c.Metric = "softmax+plrank2", train.LossMetric }},
		{"-loss softmax+plrank2 -metric map", func(c *train.Config) { c.Loss, c.Metric = "softmax+plrank2", "map" }},
	} {
		own, _ := Preset("paper")
		f := SettingFlags(&own).Set()
		if err := f.Parse(strings.Fields(test.args)); err != nil {
			t.Fatal(err)
		}
		var given []string
		f.Visit(func(f *flag.Flag) { given = append(given, f.Name) })
		got := recipe.Single("mlp", &datasets.Splits{Train: &datasets.Dataset{Labels: make([]float32, 1_000_000), Offsets: []int{0, 1_000_000}}}).Models[0]
		want := got
		test.want(&want)
		if Override(&got, own, given...); Differences(got, want) != "" {
			t.Errorf("%s: %s", test.args, Differences(got, want))
		}
	}
}

// A zero that is not a value is refused, with the name of the flag, and one that is a value is taken.
func TestZeroIsRefusedWhereItIsNotAValue(t *testing.T) {
	c := recipe.Paper()
	if c.Momentum, c.WeightDecay = 0, 0; Check(c) != nil {
		t.Error(Check(c))
	}
	if c.Gain = ""; Check(c) == nil || Check(c).Error() != `train: no gain: want one such as exp2 (-gain)` {
		t.Errorf("got %v", Check(c))
	}
}

// A linear model has no hidden layers: a value that is empty is shown as the command line has it.
func TestEmptyValuesAreShown(t *testing.T) {
	c := train.Default()
	c.Hidden = nil
	if got := Differences(c, train.Default()); got != "-hidden ''" {
		t.Error(got)
	}
}
