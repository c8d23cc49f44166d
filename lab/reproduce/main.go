// Command reproduce repeats the experiments of Oosterhuis (SIGIR 2021) with this
// implementation: its tables and figures, with PL-Rank-RB next to the paper's
// methods. See -help.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/plrank/plrank/internal/command"
)

func main() {
	os.Exit(run(command.Interruptible(), os.Args[1:], os.Stdout, os.Stderr))
}

// run is the command, and its exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return command.Run("reproduce", stdout, stderr, func(stdout io.Writer) error {
		sub, o, err := parse(args)
		if errors.Is(err, flag.ErrHelp) {
			help(stdout)
			return nil
		}
		if err == nil {
			s := &session{options: o, command: sub.name, args: args, chapters: chapters(), stdout: stdout, stderr: stderr}
			defer s.release()
			err = sub.run(ctx, s)
		}
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			fmt.Fprintln(stderr, "interrupted: what is finished is kept; the same command goes on from there")
			return command.ErrInterrupted
		}
		return err
	})
}
