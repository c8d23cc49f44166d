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
	"os/signal"
	"runtime/debug"
	"syscall"
)

// Exit statuses.
const (
	exitError       = 1
	exitUsage       = 2
	exitInterrupted = 130 // 128 + SIGINT, as shells have it
)

func main() {
	// Nearly all of the heap is features, which the collector need not look into:
	// it may run often, and keep the heap from growing to twice their size.
	debug.SetGCPercent(40)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
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
			err = predict(o, stderr)
		case o.describe:
			err = describeData(o, stdout, stderr)
		default:
			err = fit(ctx, o, stdout, stderr)
		}
	}
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "train: %v (-help explains all flags)\n", usage)
		return exitUsage
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	}
	fmt.Fprintln(stderr, err)
	return exitError
}

// A usageError is a command line that makes no sense.
type usageError struct{ error }
