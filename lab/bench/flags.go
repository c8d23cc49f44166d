package main

import (
	"flag"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/plrank/plrank/internal/command"
)

// options are the command line.
type options struct {
	parts   []*part
	count   int      // runs of each benchmark, of which the fastest counts
	cores   int      // of the parts that use more than one
	write   []string // the files whose parts are replaced
	results string   // the folder of CSV files
}

// parse reads the command line.
func parse(args []string) (options, error) {
	var o options
	list := ""
	flags := newFlags(&o, &list)
	if err := command.Parse(flags, args); err != nil {
		return o, err
	}
	if o.count < 1 {
		return o, fmt.Errorf("-count %d: want at least 1", o.count)
	}
	if o.cores < 1 || o.cores > runtime.NumCPU() {
		return o, fmt.Errorf("-cpu %d: want 1 to %d, the cores of this machine", o.cores, runtime.NumCPU())
	}
	var err error
	if o.parts, err = partsNamed(list); err != nil {
		return o, fmt.Errorf("-parts: %w", err)
	}
	return o, nil
}

func newFlags(o *options, list *string) *flag.FlagSet {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(list, "parts", "", "run only these `parts`, with commas between: "+partNames())
	flags.IntVar(&o.count, "count", 5, "run each benchmark this many `times`; the fastest counts")
	flags.IntVar(&o.cores, "cpu", runtime.NumCPU(), "`cores` of a training step and an epoch; all else runs on one")
	flags.StringVar(&o.results, "results", "speed", "the `folder` of CSV files, which get every run where -write is given")
	flags.Func(
		"write",
		"replace the parts between comments <!-- bench-PART --> in these Markdown `files`, with commas between",
		func(list string) error {
			o.write = strings.Split(list, ",")
			return nil
		},
	)
	return flags
}

// help is the manual.
func help(w io.Writer) {
	fmt.Fprint(w, `bench - run the benchmarks, print the tables of speed.md

    go run ./bench [-parts LIST] [-count N] [-cpu N] [-write FILES]
    go run ./bench peers -help
    go run ./bench scale -help
    go run ./bench fullsize -help

Runs go test -bench for one part after another, says on standard error how far it
is, and prints a Markdown table for each part, with the machine above it. Let
nothing else run meanwhile.

`)
	var o options
	list := ""
	newFlags(&o, &list).VisitAll(func(f *flag.Flag) { command.ExplainFlag(w, f) })
}
