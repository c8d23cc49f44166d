package trainer

import (
	"maps"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/train"
)

// idle returns warnings, by flag, of those on the command line that have no effect with the others on any model, or on the data. A run
// that goes on has none: its files say what it does.
func (o *options) idle(s *datasets.Splits) (warnings map[string]string, err error) {
	if o.line == nil {
		return nil, nil
	}
	line := &cli.Line{FlagSet: o.line, Rows: o.flags()}
	for _, c := range o.plan() {
		measures, err := c.Measures()
		if err != nil {
			return nil, err
		}
		own := line.Idle(&train.Use{Config: c, Measures: measures, Splits: s}) // the last model, a network, says why
		maps.DeleteFunc(own, func(flag, _ string) bool { return warnings != nil && warnings[flag] == "" })
		warnings = own
	}
	return warnings, nil
}
