// Package help prints the help pages of the sub-commands, and the topics to which these refer:
// the sections of docs/guide.md.
package help

import (
	"errors"
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

// Print prints the page of a sub-command that has these flags.
func (p Page) Print(w io.Writer, flags *flag.FlagSet) {
	fmt.Fprintln(w, "Usage:")
	p.lines(w, p.Usage)
	fmt.Fprintf(w, "\n%s\n\nFlags:\n", command.Wrap(p.Text, command.Width))
	for _, name := range p.Flags {
		command.ExplainFlag(w, flags.Lookup(name))
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

// Parse reads the command line, or prints the page where that asks for it.
func (p Page) Parse(w io.Writer, flags *flag.FlagSet, args []string) (printed bool, err error) {
	return p.printed(w, flags, command.Parse(flags, args))
}

// ParseWords is Parse for a command line that has words beside its flags, such as names of files.
func (p Page) ParseWords(w io.Writer, flags *flag.FlagSet, args []string) (words []string, printed bool, err error) {
	words, err = command.ParseWords(flags, args)
	printed, err = p.printed(w, flags, err)
	return words, printed, err
}

func (p Page) printed(w io.Writer, flags *flag.FlagSet, err error) (bool, error) {
	if errors.Is(err, flag.ErrHelp) {
		p.Print(w, flags)
		return true, nil
	}
	return false, err
}

// references prints the topics that explain the other flags, with the names of these.
func (p Page) references(w io.Writer, flags *flag.FlagSet) {
	title := "\nMore, by plrank help TOPIC:\n"
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
		if list == nil {
			list = []string{t.summary}
		}
		fmt.Fprint(w, title)
		title = ""
		command.Explain(w, t.name, strings.Join(list, " "))
	}
}
