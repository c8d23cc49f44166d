// Command train trains Plackett–Luce rankers on lists of documents, scores
// documents with one, and describes data. See -help.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/internal/processes"
	"github.com/plrank/plrank/internal/version"
	"github.com/plrank/plrank/train"
)

func main() {
	debug.SetGCPercent(mostGarbage) // until the data are read, see limitGarbage
	world, err := mpi.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(command.ExitError)
	}
	ctx := command.Interruptible()
	if world != nil {
		os.Exit(runRank(ctx, world, os.Args[1:]))
	}
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the command in a process of its own, and its exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return command.Run("train", stdout, stderr, func(stdout io.Writer) error {
		return body(ctx, nil, args, stdout, stderr)
	})
}

// body is the command. group is nil where there is one process.
func body(ctx context.Context, group train.Processes, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		help(stdout)
		return nil
	}
	if err == nil && group != nil {
		err = o.join(group, args)
	}
	if err := processes.Agree(group, err); err != nil {
		return err
	}
	if o.version {
		_, err := fmt.Fprintln(stdout, "plrank", version.String(), runtime.Version())
		return err
	}
	if o.threads > 0 {
		runtime.GOMAXPROCS(o.threads)
	}
	switch {
	case o.onnx != "":
		return export(o, stdout)
	case o.predict != "":
		return predict(ctx, o, stdout, stderr)
	case o.model != "":
		return evaluate(ctx, o, stdout, stderr)
	case o.describe:
		return describeData(ctx, o, stdout, stderr)
	}
	return fit(ctx, o, stdout, stderr)
}
