package trainer

import (
	"context"
	"fmt"
	"io"

	"github.com/plrank/plrank/internal/processes"
)

// fit trains a model, or one for each fold, and says how good it is.
func fit(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	var folds []int // none: a single run
	var err error
	if o.Folds != "" && o.Fold == 0 {
		folds, err = foldsOf(o)
	}
	if err := processes.Agree(o.processes, err); err != nil {
		return err
	}
	if err := processes.Alike(o.processes, "folds", fmt.Sprint(folds)); err != nil {
		return err
	}
	if folds != nil {
		return fitFolds(ctx, o, folds, stdout, stderr)
	}
	j, err := prepare(ctx, o, stderr)
	if err != nil {
		return err
	}
	_, err = j.run(ctx, stdout, stderr)
	return err
}
