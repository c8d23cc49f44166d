package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/plrank/plrank/cmd/internal/help"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/internal/version"
)

// A subcommand is the first word after plrank.
type subcommand struct {
	name, summary string
	run           func(args []string, stdin io.Reader, stdout, stderr io.Writer) int
}

// A table is all sub-commands, in the order in which help lists them.
type table []subcommand

// run is the command, and its exit status.
func (t table) run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		t.overview(stderr)
		return command.ExitUsage
	}
	for _, s := range t {
		if s.name == args[0] {
			return s.run(args[1:], stdin, stdout, stderr)
		}
	}
	switch name := strings.TrimLeft(args[0], "-"); {
	case name == "help" && len(args) == 2:
		return t.explain(args[1], stdin, stdout, stderr)
	case name == "help" || name == "h":
		return report(stdout, stderr, func(w io.Writer) error { t.overview(w); return nil })
	case name == "version":
		return report(stdout, stderr, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, "plrank", version.String(), runtime.Version())
			return err
		})
	}
	return report(stdout, stderr, func(io.Writer) error {
		var known []string
		for _, s := range t {
			known = append(known, s.name)
		}
		return command.Usage(fmt.Errorf("unknown command %q: %s", args[0], names.Want(args[0], append(known, "help"))))
	})
}

// explain prints a topic, or the page of a sub-command.
func (t table) explain(name string, stdin io.Reader, stdout, stderr io.Writer) int {
	for _, s := range t {
		if s.name == name {
			return s.run([]string{"-help"}, stdin, stdout, stderr)
		}
	}
	return report(stdout, stderr, func(w io.Writer) error {
		if err := help.Topic(w, name); err != nil {
			return command.Usage(err)
		}
		return nil
	})
}

// report runs what prints something, and gives the exit status.
func report(stdout, stderr io.Writer, body func(w io.Writer) error) int {
	return command.Run("plrank", stdout, stderr, body)
}

// overview prints the sub-commands and the topics.
func (t table) overview(w io.Writer) {
	fmt.Fprint(w, "plrank trains Plackett–Luce ranking models, and scores documents with them.\n\nCommands (plrank COMMAND -help explains the flags):\n")
	for _, s := range t {
		fmt.Fprintf(w, "  %-11s %s\n", s.name, s.summary)
	}
	fmt.Fprint(w, "  version     print the version\n\nTopics, by plrank help TOPIC:\n")
	help.Topics(w)
}
