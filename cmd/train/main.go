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

	"github.com/plrank/plrank/cmd/internal/command"
	"github.com/plrank/plrank/internal/version"
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
		case o.version:
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
	})
}
