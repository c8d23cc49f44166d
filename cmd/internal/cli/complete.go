package cli

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// CompleteFlag is the first argument of a sub-command whose other arguments are to be completed, see [Complete].
const CompleteFlag = "-complete"

// Complete prints what the last word of a command line with these flags may become, one a line: a flag, with a tab and what
// it sets, or a name that the value of a flag may have. It prints nothing where the word may be anything, such as the name
// of a file.
func Complete(w io.Writer, flags Flags, words []string) {
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
	set := flags.Set()
	if f := set.Lookup(strings.TrimLeft(name, "-")); f != nil && !isSwitch(f) {
		value := given[len(before):]
		before += value[:1+strings.LastIndexAny(value, "+*,")] // of a sum or list
		for _, value := range flags.Row(f.Name).values() {
			printCompletion(w, given, before+value, "")
		}
		return
	}
	if strings.HasPrefix(given, "-") {
		dashes := given[:len(given)-len(strings.TrimLeft(given, "-"))]
		set.VisitAll(func(f *flag.Flag) {
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

// values returns the names that the value of a flag may have, but those with brackets, which shells would have to quote.
func (row *Flag) values() []string {
	if row.Names == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(row.Names()), func(name string) bool { return strings.Contains(name, "(") })
}
