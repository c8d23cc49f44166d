package trainer

import (
	"fmt"
	"slices"

	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/internal/processes"
)

// usualShards is -shards where mpirun has started the command.
const usualShards = 8

// join makes the options those of a rank.
func (o *options) join(group processes.Group) error {
	if o.version {
		return nil
	}
	o.processes = group
	if !o.resume && o.config == "" && !slices.Contains(o.given, "shards") {
		o.Shards = usualShards
	}
	if group.Size() > o.Shards {
		return command.Usage(fmt.Errorf("%d ranks for %d shards: want -shards %d or more, or fewer ranks", group.Size(), o.Shards, group.Size()))
	}
	return nil
}

// inTurn calls f for rank 0 first, then for one process of each other host, then for the
// others. They find what those before have left in a cache, where they can see it. All
// ranks get the error of any.
func inTurn[T any](group processes.Group, f func() (T, error)) (value T, err error) {
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
