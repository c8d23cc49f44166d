package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plrank/plrank/internal/command"
)

// A Page is what a sub-command prints with -help: one screen.
type Page struct {
	Command  string   // its name
	Usage    []string // command lines, without the name
	Text     string   // what it does
	Examples []string // command lines, without the name
	Topics   []string // names of topics to read besides those that explain flags
	Words    bool     // whether the command takes words other than flags, such as names of files
}

// Print prints the page of a sub-command that has these flags.
func (p Page) Print(w io.Writer, flags Flags) {
	fmt.Fprintln(w, "Usage:")
	p.printLines(w, p.Usage)
	fmt.Fprintf(w, "\n%s\n", command.Wrap(p.Text, command.Width))
	printFlags(w, flags, func(row Flag) bool { return row.Topic == "" })
	p.printTopics(w, flags)
	if p.Examples != nil {
		fmt.Fprintln(w, "\nExamples:")
		p.printLines(w, p.Examples)
	}
}

func (p Page) printLines(w io.Writer, lines []string) {
	for _, line := range lines {
		fmt.Fprintln(w, strings.TrimRight("  plrank "+p.Command+" "+line, " "))
	}
}

// printTopics prints the topics that explain the other flags, with their names.
func (p Page) printTopics(w io.Writer, flags Flags) {
	title := "\nMore, by plrank help TOPIC:\n"
	for _, t := range topics {
		var list []string
		for _, row := range flags {
			if row.Topic == t.name {
				list = append(list, "-"+row.Name)
			}
		}
		if list == nil && slices.Contains(p.Topics, t.name) {
			list = []string{t.summary}
		}
		if list != nil {
			fmt.Fprint(w, title)
			title = ""
			command.Explain(w, t.name, strings.Join(list, " "))
		}
	}
}

// A Task is the command line of a sub-command, and its work.
type Task interface {
	Flags() Flags
	Check(line *Line) error
	Run(ctx context.Context, line *Line, stdin io.Reader, stdout, stderr io.Writer) error
}

// Command returns a function that runs tasks of a type as a sub-command with this page until they are interrupted, and returns the exit
// status.
func Command[T any, P interface {
	*T
	Task
}](p Page) func(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return func(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
		LimitGarbage()
		return p.DoUntil(command.Interruptible(), P(new(T)), args, stdin, stdout, stderr)
	}
}

// DoUntil runs a task as a sub-command until the context ends, and returns its exit status. Each warning is printed once, though
// several splits or files may have it.
func (p Page) DoUntil(ctx context.Context, t Task, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return p.Run(args, t.Flags(), stdout, stderr, t.Check, func(line *Line, stdout io.Writer) error {
		return t.Run(ctx, line, stdin, stdout, command.Once(stderr))
	})
}

// Run runs a sub-command, and returns its exit status: it reads the command line, checks it, and calls body, or prints
// the page if the command line asks for help.
func (p Page) Run(args []string, flags Flags, stdout, stderr io.Writer, check func(*Line) error,
	body func(line *Line, stdout io.Writer) error) int {
	return command.Run(p.Command, stdout, stderr, func(stdout io.Writer) error {
		line, parse := &Line{flags.Set(), flags}, command.Parse
		if p.Words {
			parse = command.ParseWords
		}
		err := parse(line.FlagSet, args)
		if errors.Is(err, flag.ErrHelp) {
			p.Print(stdout, flags)
			return nil
		}
		if err == nil {
			err = command.Usage(line.checkNeeds())
		}
		if err == nil {
			err = command.Usage(check(line))
		}
		if err != nil {
			return err
		}
		return body(line, stdout)
	})
}
