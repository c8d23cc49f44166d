package trainer

import (
	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/train"
)

// idle returns warnings, by flag, of those on the command line that have no effect with the others, or on the data. A run that goes on
// has none: its files say what it does.
func (o *options) idle(s *datasets.Splits) (warnings map[string]string, err error) {
	if o.line == nil {
		return nil, nil
	}
	measures, err := o.Config.Measures()
	if err != nil {
		return nil, err
	}
	return (&cli.Line{FlagSet: o.line, Rows: o.flags()}).Idle(&train.Use{Config: o.Config, Measures: measures, Splits: s}), nil
}
