package recipe

import (
	"encoding/json"
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/train"
)

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
	all := flag.NewFlagSet("", flag.ContinueOnError)
	Define(all, &c)
	all.VisitAll(func(f *flag.Flag) {
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
