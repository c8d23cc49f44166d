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
	"runtime/debug"

	"github.com/plrank/plrank/cmd/internal/command"
)

func main() {
	// Nearly all of the heap is features, which the collector need not look into:
	// it may run often, and keep the heap from growing to twice their size.
	debug.SetGCPercent(40)
	os.Exit(run(command.Interruptible(), os.Args[1:], os.Stdout, os.Stderr))
}

// run is the command, and its exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		help(stdout)
		return 0
	}
	if err == nil {
		switch {
		case o.predict != "":
			err = predict(ctx, o, stderr)
		case o.describe:
			err = describeData(ctx, o, stdout, stderr)
		default:
			err = fit(ctx, o, stdout, stderr)
		}
	}
	var usage command.UsageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "train: %v (-help explains all flags)\n", usage)
		return command.ExitUsage
	case errors.Is(err, errInterrupted):
		return command.ExitInterrupted
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "interrupted:", err)
		return command.ExitInterrupted
	}
	fmt.Fprintln(stderr, err)
	return command.ExitError
}
