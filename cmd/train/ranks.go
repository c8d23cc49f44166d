package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/internal/processes"
	"github.com/plrank/plrank/train"
)

// usualShards is -shards where mpirun has started the command.
const usualShards = 8

// runRank is run for one of the processes that mpirun has started. Rank 0 prints for all. An
// error that the others do not know of ends them.
func runRank(ctx context.Context, world mpi.World, args []string) int {
	stdout, stderr := io.Writer(os.Stdout), io.Writer(os.Stderr)
	if world.Rank() > 0 {
		stdout, stderr = io.Discard, io.Discard
	}
	var failed error
	status := command.Run("train", stdout, stderr, func(stdout io.Writer) error {
		failed = body(ctx, world, args, stdout, stderr)
		return failed
	})
	var agreed processes.Agreed
	if failed != nil && !errors.As(failed, &agreed) && !errors.Is(failed, command.ErrInterrupted) && world.Size() > 1 {
		if world.Rank() > 0 {
			fmt.Fprintf(os.Stderr, "train: rank %d of %d: %s\n", world.Rank(), world.Size(), command.Printable(failed.Error()))
		}
		world.Abort(status)
	}
	world.Close()
	return status
}

// join makes the options those of a rank.
func (o *options) join(group train.Processes, args []string) error {
	if o.version {
		return nil
	}
	if o.onnx != "" || o.predict != "" || o.model != "" || o.describe {
		return command.Usage(errors.New("mpirun is for training: score, measure and describe with one process"))
	}
	o.processes = group
	given := defaults()
	flags, err := parseInto(given, args)
	if err != nil {
		return err
	}
	if !o.resume && o.config == "" && !isGiven(flags, "shards") {
		o.Shards = usualShards
	}
	if group.Size() > o.Shards {
		return command.Usage(fmt.Errorf("%d ranks for %d shards: want -shards %d or more, or fewer ranks", group.Size(), o.Shards, group.Size()))
	}
	return nil
}

// first tells whether this process is the one that prints, and writes files.
func (o *options) first() bool { return o.processes == nil || o.processes.Rank() == 0 }

// inTurn calls f for rank 0 first, then for one process of each other host, then for the
// others. They find what those before have left in a cache, where they can see it. All
// ranks get the error of any.
func inTurn[T any](group train.Processes, f func() (T, error)) (value T, err error) {
	if group == nil {
		return f()
	}
	mine := 2
	switch {
	case group.Rank() == 0:
		mine = 0
	case mpi.FirstOfHost():
		mine = 1
	}
	for turn := range 3 {
		if turn == mine {
			value, err = f()
		}
		if err := processes.Agree(group, err); err != nil {
			return value, err
		}
	}
	return value, nil
}
