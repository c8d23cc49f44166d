package trainer

import (
	"context"
	"io"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/source"
)

// openClicks gives splits to learn from clicks. Where there are labelled data for validation, they
// are the other splits; otherwise queries of the log are held out.
func openClicks(ctx context.Context, o *options, read datasets.ReadOptions, stderr io.Writer) (*datasets.Splits, error) {
	labelled := &datasets.Splits{}
	if o.Data != "" {
		from, options := o.Source, datasets.Options{Read: read, Seed: o.Seed, Unlabelled: "drop"}
		whole := o.SingleFile()
		if whole { // its labels do not count, and nothing is held out of it
			from.Vali, options.Unlabelled = from.Data, "keep"
		}
		var err error
		if labelled, err = from.Open(ctx, options, stderr); err != nil {
			return nil, err
		}
		if whole {
			labelled.Vali = nil
		}
	}
	d, err := o.Gains(labelled.Train, stderr)
	if err != nil {
		return nil, err
	}
	if labelled.Vali == nil {
		return source.HoldOut(d, o.Seed)
	}
	return &datasets.Splits{Train: d, Vali: labelled.Vali, Test: labelled.Test}, nil
}
