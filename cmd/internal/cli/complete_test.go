package cli

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/train"
)

func TestWordsAreCompleted(t *testing.T) {
	for line, want := range map[string]string{
		"-los": "-loss", "x.csv --schedu": "--schedule", "-headerless -los": "-loss",
		"-scorer ": "attention forest mlp", "-scorer f": "forest", "--optimizer=ada": "--optimizer=adam --optimizer=adamw",
		"-scorer = f": "forest", "-scorer =": "attention forest mlp",
		"-loss plrank-exact+0.1*soft": "plrank-exact+0.1*softmax", "-report map,dispar": "map,disparity", "-loss disparity(": "",
		"-estimator i": "ips", "-data ": "", "-headerless ": "", "file": "", "": "", "-none ": "", "-cache ": "off user",
	} {
		var w strings.Builder
		Complete(&w, topicFlags(), strings.Split(line, " "))
		var got []string
		for text := range strings.Lines(w.String()) {
			name, _, _ := strings.Cut(strings.TrimSuffix(text, "\n"), "\t")
			got = append(got, name)
		}
		if slices.Sort(got); strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %s", line, got, want)
		}
	}
	var w strings.Builder
	Complete(&w, topicFlags(), []string{"-optim"})
	if w.String() != "-optimizer\tname of the optimizer: sgd, momentum, adam, adamw\n" {
		t.Errorf("%q", &w)
	}
}

// Each flag for a name has names to complete, and a training takes each of them.
func TestNamesToCompleteAreThoseOfFlags(t *testing.T) {
	set := topicFlags().Set()
	for _, row := range topicFlags() {
		kind, _ := flag.UnquoteUsage(set.Lookup(row.Name))
		if slices.Contains([]string{"name", "kind", "metric", "metrics", "what"}, kind) && row.values() == nil {
			t.Errorf("-%s takes a %s, and has none to complete", row.Name, kind)
		}
	}
	c := train.Config{}
	for _, row := range SettingFlags(&c) {
		for _, name := range row.values() {
			c, _ = Preset(ByData)
			if err := SettingFlags(&c).Set().Set(row.Name, name); err != nil {
				t.Errorf("-%s %s: %v", row.Name, name, err)
			} else if name == "raw" {
				c.Scorer = "forest"
			}
			if err := Check(c); err != nil {
				t.Errorf("-%s %s: %v", row.Name, name, err)
			}
		}
	}
}
