package help

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/plrank/plrank/internal/command"
)

// width is how wide lines are at most, in characters, and column is where explanations
// begin.
const (
	width  = 80
	column = 18
)

// hanging prints a term and its explanation beside it.
func hanging(w io.Writer, term, text string) {
	space := strings.Repeat(" ", column)
	lines := command.Indent(command.Wrap(text, width-column), space)
	if len([]rune(term))+3 > column {
		fmt.Fprintf(w, "  %s\n%s\n", term, lines)
		return
	}
	fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-*s%s", column-2, term, strings.TrimPrefix(lines, space)), " "))
}

// describe prints a flag, its explanation, and its default.
func describe(w io.Writer, f *flag.Flag) {
	value, text := flag.UnquoteUsage(f)
	if b, ok := f.Value.(interface{ IsBoolFlag() bool }); ok && b.IsBoolFlag() {
		value = ""
		if f.DefValue == "true" {
			text += fmt.Sprintf(" (on; -%s=false is off)", f.Name)
		}
	} else if f.DefValue != "" && f.DefValue != "0" {
		text += fmt.Sprintf(" (default %s)", f.DefValue)
	}
	hanging(w, strings.TrimRight("-"+f.Name+" "+value, " "), text)
}
