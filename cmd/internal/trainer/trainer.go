// Package trainer is the sub-command that trains models.
package trainer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/mpi"
)

// Run runs the sub-command, and returns its exit status. Started by mpirun, it is one of several ranks.
func Run(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	cli.LimitGarbage()
	world, err := mpi.Start()
	if err != nil {
		fmt.Fprintln(stderr, "train:", err)
		return command.ExitError
	}
	return run(command.Interruptible(), world, args, stdout, stderr)
}

// run is the sub-command in a process of its own, or, in a world, in one of the processes that mpirun has started. Rank
// 0 prints for all. An error that the others do not know of ends them.
func run(ctx context.Context, world mpi.World, args []string, stdout, stderr io.Writer) int {
	printed, said := stdout, stderr
	if mpi.GroupOf(world).Rank() > 0 {
		printed, said = io.Discard, io.Discard
	}
	var failed error
	status := command.Run("train", printed, said, func(stdout io.Writer) error {
		failed = body(ctx, world, args, stdout, said)
		return failed
	})
	if world == nil {
		return status
	}
	var agreed mpi.Agreed
	if failed != nil && !errors.As(failed, &agreed) && !errors.Is(failed, command.ErrInterrupted) && world.Size() > 1 {
		if world.Rank() > 0 {
			fmt.Fprintf(stderr, "train: rank %d of %d: %s\n", world.Rank(), world.Size(), command.Printable(failed.Error()))
		}
		world.Abort(status)
	}
	world.Close()
	return status
}

// body is the sub-command. group is nil where there is one process.
func body(ctx context.Context, group mpi.Group, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		page.Print(stdout, defaults().flags())
		return nil
	}
	if err == nil && group != nil {
		err = o.join(group)
	}
	if err := mpi.Agree(group, err); err != nil {
		return err
	}
	return fit(ctx, o, stdout, command.Once(stderr))
}
