package trainer

import (
	"context"
	"io"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/source"
	"github.com/plrank/plrank/train"
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

// learnClicks changes a recipe for gains from clicks, where no flag says otherwise. They are
// estimates, and may be negative: divided by the best value of their query, which is an estimate
// too, they would not be right on average. Softmax cannot have a share, as it takes no negative gains.
// And no metric but the loss goes by them.
func (o *options) learnClicks(s *datasets.Splits) {
	if o.Clicks == "" || o.resume || o.config != "" {
		return
	}
	if !slices.Contains(o.given, "normalize") {
		o.NormalizeGains = false
		o.given = append(o.given, "normalize")
	}
	if !slices.Contains(o.given, "loss") {
		o.Loss = "plrank-exact"
		o.given = append(o.given, "loss")
	}
	if s.Vali.Gains != nil && !slices.Contains(o.given, "metric") {
		o.Metric = train.LossMetric
		o.given = append(o.given, "metric")
	}
}
