// Command train trains Plackett–Luce rankers on lists of documents, scores
// documents with one, and describes data. See -help.
package main

import (
	"context"
	"errors"
	"flag"
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
	return command.Run("train", stdout, stderr, func(stdout io.Writer) error {
		o, err := parse(args)
		switch {
		case errors.Is(err, flag.ErrHelp):
			help(stdout)
			return nil
		case err != nil:
			return err
		case o.predict != "":
			return predict(ctx, o, stderr)
		case o.describe:
			return describeData(ctx, o, stdout, stderr)
		}
		return fit(ctx, o, stdout, stderr)
	})
}
