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

	"github.com/plrank/plrank/cmd/internal/command"
)

func main() {
	os.Exit(run(command.Interruptible(), os.Args[1:], os.Stdout, os.Stderr))
}

// run is the command, and its exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	sub, o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		help(stdout)
		return 0
	}
	if err == nil {
		err = sub.run(ctx, &session{options: o, command: sub.name, args: args, stdout: stdout, stderr: stderr})
	}
	var usage command.UsageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "reproduce: %v (-help explains all subcommands and flags)\n", usage)
		return command.ExitUsage
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		fmt.Fprintln(stderr, "interrupted: what is finished is kept; the same command goes on from there")
		return command.ExitInterrupted
	}
	fmt.Fprintln(stderr, err)
	return command.ExitError
}
