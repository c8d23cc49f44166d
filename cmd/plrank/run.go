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

// run is the command, and its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		overview(stderr)
		return command.ExitUsage
	}
	for _, s := range subcommands {
		if s.name == args[0] {
			return s.run(args[1:], stdin, stdout, stderr)
		}
	}
	switch name := strings.TrimLeft(args[0], "-"); {
	case name == "help" && len(args) == 2:
		return explain(args[1], stdin, stdout, stderr)
	case name == "help" || name == "h":
		return print(stdout, stderr, func(w io.Writer) error { overview(w); return nil })
	case name == "version":
		return print(stdout, stderr, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, "plrank", version.String(), runtime.Version())
			return err
		})
	}
	return print(stdout, stderr, func(io.Writer) error {
		var known []string
		for _, s := range subcommands {
			known = append(known, s.name)
		}
		return command.Usage(fmt.Errorf("unknown command %q: %s", args[0], names.Want(args[0], append(known, "help"))))
	})
}

// explain prints a topic, or the page of a sub-command.
func explain(name string, stdin io.Reader, stdout, stderr io.Writer) int {
	for _, s := range subcommands {
		if s.name == name {
			return s.run([]string{"-help"}, stdin, stdout, stderr)
		}
	}
	return print(stdout, stderr, func(w io.Writer) error {
		if err := help.Topic(w, name); err != nil {
			return command.Usage(err)
		}
		return nil
	})
}

// print runs what prints something, and gives the exit status.
func print(stdout, stderr io.Writer, body func(w io.Writer) error) int {
	return command.Run("plrank", stdout, stderr, body)
}

// overview prints the sub-commands and the topics.
func overview(w io.Writer) {
	fmt.Fprint(w, "plrank trains Plackett–Luce ranking models, and scores documents with them.\n\nCommands (plrank COMMAND -help explains the flags):\n")
	for _, s := range subcommands {
		fmt.Fprintf(w, "  %-11s %s\n", s.name, s.summary)
	}
	fmt.Fprint(w, "  version     print the version\n\nTopics, by plrank help TOPIC:\n")
	help.Topics(w)
}
