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
	flags := topicFlags()
	flags.VisitAll(func(f *flag.Flag) {
		kind, _ := flag.UnquoteUsage(f)
		ofName := slices.Contains([]string{"name", "kind", "metric", "metrics", "what"}, kind) && !strings.HasSuffix(f.Name, "-column")
		if ofName && valuesOf(f) == nil {
			t.Errorf("-%s takes a %s, and has none to complete", f.Name, kind)
		}
	})
	for _, s := range new(train.Config).Settings() {
		f := flags.Lookup(s.Flag)
		for _, name := range valuesOf(f) {
			c, _ := Preset(ByData)
			if err := configFlags(&c).Set(s.Flag, name); err != nil {
				t.Errorf("-%s %s: %v", s.Flag, name, err)
			} else if s.Flag == "transform" && name == "raw" {
				c.Scorer = "forest"
			}
			if err := Check(c); err != nil {
				t.Errorf("-%s %s: %v", s.Flag, name, err)
			}
		}
	}
}
