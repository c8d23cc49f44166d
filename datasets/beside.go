package datasets

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/plrank/plrank/datasets/internal/table"
)

// WriteGroups writes the groups of documents as ReadFile reads them from the file FILE.groups
// beside FILE: one a line, in the order of [WriteLETOR], an empty line for none. A dataset
// without groups is an error, and so are names that a line cannot hold.
func WriteGroups(w io.Writer, d *Dataset) error {
	if err := d.Validate(); err != nil {
		return err
	}
	if d.Groups == nil {
		return fmt.Errorf("datasets: %s: there are no groups to write", d.Name)
	}
	for _, name := range d.GroupNames {
		if name == "" || name == table.NoGroup || strings.TrimSpace(name) != name || strings.ContainsAny(name, "\r\n") {
			return fmt.Errorf("datasets: %s: group %q cannot be written: want a name on one line without blanks around it, and other than %s", d.Name, name, table.NoGroup)
		}
	}
	out := bufio.NewWriter(w)
	for _, g := range d.Groups {
		if g >= 0 {
			out.WriteString(d.GroupName(g))
		}
		out.WriteByte('\n') // an error stays until Flush
	}
	return flush(out, d)
}

// WriteWeights writes the weights of documents, or of queries, as ReadFile reads them from
// the file FILE.weight beside FILE: one a line, in the order of [WriteLETOR]. A dataset
// without weights is an error, and so is one with both kinds. So are weights of queries with
// one document each: they would be read as weights of documents.
func WriteWeights(w io.Writer, d *Dataset) error {
	if err := d.Validate(); err != nil {
		return err
	}
	weights := d.Weights
	switch {
	case d.Weights == nil && d.QueryWeights == nil:
		return fmt.Errorf("datasets: %s: there are no weights to write", d.Name)
	case d.Weights != nil && d.QueryWeights != nil:
		return fmt.Errorf("datasets: %s: weights of documents and of queries cannot be written to one file", d.Name)
	case d.Weights == nil && d.Queries() == d.Rows():
		return fmt.Errorf("datasets: %s: weights of queries of one document each would be read as weights of documents", d.Name)
	case d.Weights == nil:
		weights = d.QueryWeights
	}
	out := bufio.NewWriter(w)
	for _, weight := range weights {
		fmt.Fprintln(out, formatFloat(weight)) // an error stays until Flush
	}
	return flush(out, d)
}
