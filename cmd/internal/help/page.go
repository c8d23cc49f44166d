// Package help prints the help pages of the sub-commands, and the topics to which these refer:
// the sections of docs/guide.md.
package help

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plrank/plrank/internal/command"
)

// A Page is what a sub-command says with -help: one screen.
type Page struct {
	Command  string   // its name
	Usage    []string // command lines, without the name
	Text     string   // what it does
	Flags    []string // names of the flags that the page explains; the others are explained by topics
	Examples []string // command lines, without the name
	Topics   []string // names of topics to read besides those that explain flags
}

// width is that of all that is printed, in columns.
const width = 80

// Print prints the page of a sub-command that has these flags.
func (p Page) Print(w io.Writer, flags *flag.FlagSet) {
	fmt.Fprintln(w, "Usage:")
	p.lines(w, p.Usage)
	fmt.Fprintf(w, "\n%s\n\nFlags:\n", command.Wrap(p.Text, width))
	for _, name := range p.Flags {
		describe(w, flags.Lookup(name))
	}
	p.references(w, flags)
	if p.Examples != nil {
		fmt.Fprintln(w, "\nExamples:")
		p.lines(w, p.Examples)
	}
}

func (p Page) lines(w io.Writer, lines []string) {
	for _, line := range lines {
		fmt.Fprintln(w, strings.TrimRight("  plrank "+p.Command+" "+line, " "))
	}
}

// references prints the topics that explain the other flags, with the names of these.
func (p Page) references(w io.Writer, flags *flag.FlagSet) {
	first := true
	for _, t := range topics {
		var list []string
		for _, name := range t.flags {
			if flags.Lookup(name) != nil && !slices.Contains(p.Flags, name) {
				list = append(list, "-"+name)
			}
		}
		if list == nil && !slices.Contains(p.Topics, t.name) {
			continue
		}
		if first {
			fmt.Fprintln(w, "\nMore, by plrank help TOPIC:")
			first = false
		}
		if list == nil {
			list = []string{t.summary}
		}
		hanging(w, t.name, strings.Join(list, " "))
	}
}

// column is where explanations begin.
const column = 18

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
