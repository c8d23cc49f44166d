package trainer

import (
	"context"
	"io"
	"maps"
	"slices"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/text"
)

// openClicks gives splits to learn from clicks. Where there are labelled data for validation, they
// are the other splits; otherwise queries of the log are held out.
func openClicks(ctx context.Context, o *options, read datasets.ReadOptions, stderr io.Writer) (*datasets.Splits, error) {
	labelled := &datasets.Splits{}
	if o.Data != "" {
		var err error
		if labelled, err = o.Source.Open(ctx, datasets.Options{Read: read, Seed: o.Seed, Unlabelled: "drop", FeaturesOnly: true},
			stderr); err != nil {
			return nil, err
		}
	}
	d, err := o.Gains(labelled.Train, stderr)
	if err != nil {
		return nil, err
	}
	renumber(d, read)
	if labelled.Train != nil {
		d.Roles = maps.Clone(labelled.Train.Roles)
	}
	if v := labelled.Vali; v != nil && d.Roles != nil && d.Roles["label"] == "" && v.Roles["label"] != "" {
		d.Roles["label"] = v.Roles["label"]
	}
	if labelled.Vali == nil {
		return datasets.HoldOut(d, o.Seed)
	}
	return &datasets.Splits{Train: d, Vali: labelled.Vali, Test: labelled.Test}, nil
}

// renumber gives the texts of a log the numbers that they have in an initial model, as if the log had been read for it.
// Other columns than the model's stay as they are: training reports them.
func renumber(d *datasets.Dataset, read datasets.ReadOptions) {
	if read.Levels == nil || !slices.Equal(d.FeatureIDs, read.FeatureIDs) {
		return
	}
	all := make([][]string, d.Width())
	copy(all, d.Levels)
	for c, known := range read.Levels {
		levels, numbers := text.FixedLevels(known, slices.Contains(read.NumberLevels, d.FeatureIDs[c])), []float32{0}
		for _, name := range all[c] {
			numbers = append(numbers, levels.Value([]byte(name), text.Cell))
		}
		ofText := known != nil
		for row := 0; row < d.Rows() && all[c] == nil; row++ { // a column of numbers, or without values
			x := d.Value(row, c)
			ofText = ofText && x != x
		}
		if !ofText {
			continue
		}
		all[c] = known
		for row := range d.Rows() {
			if x := d.Row(row); x[c] == x[c] {
				x[c] = numbers[int(x[c])]
			}
		}
	}
	d.Levels, d.NumberLevels = all, read.NumberLevels
}
