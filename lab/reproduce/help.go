package main

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/plrank/plrank/internal/command"
)

// help prints the manual page.
func help(w io.Writer) {
	fmt.Fprint(w, `NAME
  reproduce - the tables and figures of the PL-Rank paper, from this implementation

SYNOPSIS
  reproduce SUBCOMMAND [flags]

DESCRIPTION
  Repeats the experiments of Oosterhuis (SIGIR 2021), section 7, in the paper's
  set-up (sigmoid layers of 32 and 32, plain SGD, one query a step, DCG@5), with
  PL-Rank-RB next to the paper's methods. Measures the test split.

  The folder of -out gets, for each experiment, CSV files, plots as PNG and SVG,
  and a JSON file that says how they came about, and a report on all: report.md.
  Finished trials are kept in its folder trials: they are not repeated, and a
  session that was interrupted (Ctrl-C) goes on where it was if it is started
  again. The same seed gives the same CSV files, except for times, on any number
  of cores. Where nothing is timed, as many runs go at the same time as there are
  cores; what is timed runs alone.

SUBCOMMANDS
`)
	for _, c := range subcommands() {
		fmt.Fprintf(w, "  %s\n%s\n", c.name, command.Indent(c.what, "      "))
		fmt.Fprintf(w, "%s\n", command.Indent(command.Wrap("flags: -"+strings.Join(c.flags, " -"), 70), "      "))
	}
	fmt.Fprint(w, "\nFLAGS\n")
	defaults().flags().VisitAll(func(f *flag.Flag) { command.ExplainFlag(w, f) })
	fmt.Fprint(w, `
EXIT STATUS
  0    all is well
  1    an error: standard error says what and where
  2    a command line that makes no sense
  130  interrupted (Ctrl-C). A second Ctrl-C ends at once.

EXAMPLES
  reproduce samples
  reproduce epochs -data synthetic:istella -scale 0.01 -samples 10,1000
  reproduce time -data MQ2008/Fold1 -runs 20 -seconds 60 -out results/mq2008
  reproduce fairness -data MQ2008 -fold 1 -weights 0,1,10,100
  reproduce all -data synthetic:yahoo -minutes 30
`)
}
