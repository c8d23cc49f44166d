package train

import (
	"errors"

	"github.com/plrank/plrank/train/internal/graph"
)

// skipping is the hook of Config.OnNaN "skip".
type skipping struct{ idle }

func newSkipping(onNaN string) hook {
	if onNaN != onNaNSkip {
		return nil
	}
	return skipping{}
}

func (skipping) tolerates(err error) bool { return Skippable(err) }

// Skippable tells whether an error of [Trainer.Run] is about a batch that would have been
// left out with Config.OnNaN "skip". A weight that became infinite is no such error: all
// batches after it are lost.
func Skippable(err error) bool {
	var of *graph.BatchError
	return errors.As(err, &of)
}
