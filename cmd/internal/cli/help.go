package cli

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
	Words    bool     // there are words beside the flags, such as names of files
}

// Print prints the page of a sub-command that has these flags.
func (p Page) Print(w io.Writer, flags *flag.FlagSet) {
	fmt.Fprintln(w, "Usage:")
	p.lines(w, p.Usage)
	fmt.Fprintf(w, "\n%s\n", command.Wrap(p.Text, command.Width))
	if p.Flags != nil {
		fmt.Fprintln(w, "\nFlags:")
	}
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

// Run is a sub-command, and its exit status: it reads the command line, checks it, and runs the
// body, or prints the page where the command line asks for it.
func (p Page) Run(args []string, flags *flag.FlagSet, stdout, stderr io.Writer, check func() error, body func(stdout io.Writer) error) int {
	return command.Run(p.Command, stdout, stderr, func(stdout io.Writer) error {
		parse := command.Parse
		if p.Words {
			parse = command.ParseWords
		}
		switch err := parse(flags, args); {
		case errors.Is(err, flag.ErrHelp):
			p.Print(stdout, flags)
			return nil
		case err != nil:
			return err
		}
		if err := check(); err != nil {
			return command.Usage(err)
		}
		return body(stdout)
	})
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
