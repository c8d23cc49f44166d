// Command reproduce repeats the experiments of Oosterhuis (SIGIR 2021) with this
// implementation: its tables and figures, with PL-Rank-RB beside the paper's
// methods. See -help.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit statuses.
const (
	exitError       = 1
	exitUsage       = 2
	exitInterrupted = 130 // 128 + SIGINT, as shells have it
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the command, and its exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	command, o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		help(stdout)
		return 0
	}
	if err == nil {
		err = command.run(ctx, &session{options: o, command: command.name, args: args, stdout: stdout, stderr: stderr})
	}
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "reproduce: %v (-help explains all subcommands and flags)\n", usage)
		return exitUsage
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		fmt.Fprintln(stderr, "interrupted: what is finished is kept; the same command goes on from there")
		return exitInterrupted
	}
	fmt.Fprintln(stderr, err)
	return exitError
}

// A usageError is a command line that makes no sense.
type usageError struct{ error }
