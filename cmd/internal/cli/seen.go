package cli

import (
	"fmt"
	"io"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/ranker"
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
