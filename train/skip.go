package train

import (
	"context"
	"errors"
	"fmt"
)

// A batchError tells that the loss of a batch, or its gradient, is not finite or cannot be
// computed. The weights are still those of the step before.
type batchError struct{ error }

func (e *batchError) Unwrap() error { return e.error }

// Skippable tells whether an error of [Trainer.Run] is about a batch that would have been
// left out with Config.OnNaN "skip". A weight that became infinite is no such error: all
// batches after it are lost.
func Skippable(err error) bool {
	var of *batchError
	return errors.As(err, &of)
}

// skip counts a batch that is left out of an epoch of so many steps. The error is for the
// hook: of the first one in an epoch, it names the queries.
func (t *Trainer) skip(ctx context.Context, err error, e *Epoch, b *stepBatch, steps int) (reported, fatal error) {
	e.Skipped++
	if e.Skipped == 1 {
		err = t.locate(ctx, err, b)
	}
	if e.Skipped == steps {
		return nil, fmt.Errorf("train: epoch %d: all %d batches were skipped: %w", e.Epoch, steps, err)
	}
	return err, nil
}
