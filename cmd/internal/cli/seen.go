package cli

import (
	"cmp"
	"fmt"
	"io"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// WarnOfSeen warns if the model of that name was trained on queries of d, whatever is measured or chosen on them.
func WarnOfSeen(stderr io.Writer, name string, m *ranker.Model, d *datasets.Dataset) {
	WarnOfSeenQueries(stderr, d.Name, name, d.CountSeen(m.Seen), d.Queries())
}

// WarnOfSeenQueries is WarnOfSeen for queries that are counted already.
func WarnOfSeenQueries(stderr io.Writer, data, name string, seen, queries int) {
	if seen > 0 {
		command.Warn(stderr, fmt.Sprintf("%s: %d of %d queries were trained on by %s: what is measured on them says little about new queries",
			data, seen, queries, command.Printable(name)))
	}
}

// TakeGain gives c the gain of models with these names, unless one is given, and their highest grade, unless c has one. It returns an
// error if the gains differ.
func TakeGain(c *train.Config, given bool, names []string, models []*ranker.Model) error {
	grade := 0.
	for i, m := range models {
		file := m.File()
		grade = max(grade, file.Grade)
		switch {
		case given:
		case i == 0:
			c.Gain = file.Gain
		case file.Gain != c.Gain:
			return command.Usage(fmt.Errorf("%s has the gain %s, and %s has %s: -gain must say by which all are measured", names[0], c.Gain,
				names[i], file.Gain))
		}
	}
	c.HighestGrade = cmp.Or(c.HighestGrade, grade)
	return nil
}
