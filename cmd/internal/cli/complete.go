package cli

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/internal/forward"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train"
)

// CompleteFlag is the first argument of a sub-command whose other arguments are to be completed, see [Complete].
const CompleteFlag = "-complete"

// Complete prints what the last word of a command line with these flags may become, one a line: a flag, with a tab and what
// it sets, or a name that the value of a flag may have. It prints nothing where the word may be anything, such as the name
// of a file.
func Complete(w io.Writer, flags *flag.FlagSet, words []string) {
	given := ""
	if n := len(words); n > 0 && words[n-1] != "=" { // bash takes -flag=value apart
		given = words[n-1]
		words = words[:n-1]
	}
	words = slices.DeleteFunc(slices.Clone(words), func(word string) bool { return word == "=" })
	name, before := "", "" // of the flag; of what stays of the word
	switch {
	case strings.HasPrefix(given, "-") && strings.Contains(given, "="):
		name, _, _ = strings.Cut(given, "=")
		before = name + "="
	case len(words) > 0 && strings.HasPrefix(words[len(words)-1], "-"):
		name = words[len(words)-1]
	}
	if f := flags.Lookup(strings.TrimLeft(name, "-")); f != nil && !isSwitch(f) {
		value := given[len(before):]
		before += value[:1+strings.LastIndexAny(value, "+*,")] // of a sum or list
		for _, value := range valuesOf(f) {
			printCompletion(w, given, before+value, "")
		}
		return
	}
	if strings.HasPrefix(given, "-") {
		dashes := given[:len(given)-len(strings.TrimLeft(given, "-"))]
		flags.VisitAll(func(f *flag.Flag) {
			_, usage := flag.UnquoteUsage(f)
			printCompletion(w, given, dashes+f.Name, usage)
		})
	}
}

// printCompletion prints a name if it begins as the word that is given.
func printCompletion(w io.Writer, given, name, explanation string) {
	if strings.HasPrefix(name, given) {
		fmt.Fprintln(w, strings.TrimRight(name+"\t"+explanation, "\t"))
	}
}

// isSwitch reports whether a flag takes no value from the next word.
func isSwitch(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// valuesOf returns the names that the value of a flag may have, those in its usage where commands differ; those with
// brackets, which shells would have to quote, are left out.
func valuesOf(f *flag.Flag) []string {
	values := values[f.Name]
	if values == nil {
		return nil
	}
	usage := strings.FieldsFunc(f.Usage, func(r rune) bool { return strings.ContainsRune(" ,:", r) })
	return slices.DeleteFunc(values(), func(name string) bool {
		return strings.Contains(name, "(") || f.Name == "estimator" && !slices.Contains(usage, name)
	})
}

// values has by flag the names that its value may have.
var values = map[string]func() []string{
	"activation": forward.ActivationNames,
	"loss":       losses.Names,
	"metric":     func() []string { return append(measures(), train.LossMetric) },
	"optimizer":  train.Optimizers,
	"preset":     Presets,
	"report":     measures,
	"scorer":     train.Scorers,
	"estimator": func() (all []string) {
		for _, e := range append(clicks.GainEstimators(), clicks.ValueEstimators()...) {
			all = append(all, string(e))
		}
		slices.Sort(all)
		return slices.Compact(all)
	},

	"cache":      words(userCache + " " + noCache),
	"convention": words("zero one skip letor4"),
	"cutoff":     words("all"),
	"discounts":  words("dcg precision arp rbp"),
	"duplicates": words("error last"),
	"folds":      words("all"),
	"gain":       words("exp2 linear binary"),
	"method":     words("all-pairs harvest em affine"),
	"minus-one":  words("unlabelled irrelevant"),
	"on-nan":     words("stop skip"),
	"samples":    words("dynamic"),
	"schedule":   words("constant cosine plateau"),
	"ties":       words("random order"),
	"transform":  words("none minmax standard log-standard quantile rank missing raw"),
	"unit":       words("query client impression"),
	"unlisted":   words("omit last"),
	"user":       words("position-based cascade"),
}

func words(text string) func() []string { return func() []string { return strings.Fields(text) } }

// measures returns the names of metrics, and of their expectations.
func measures() (all []string) {
	for _, name := range metrics.Names() {
		all = append(all, name, "expected-"+name)
	}
	return append(all, metrics.FairnessNames()...)
}
