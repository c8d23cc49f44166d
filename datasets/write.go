package datasets

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/plrank/plrank/datasets/internal/reader"
)

// WriteLETOR writes a dataset as LETOR text, which ReadFile reads back as the same dataset, bit
// for bit: NaN for missing values, "# docid = X" for document ids; zeros are left out except in
// the first line, which has every feature. Categories are the numbers of their Levels. Feature names, Levels, gains, what
// a log has, base scores and empty queries have no place in the format; weights and groups go to files next to it, see
// [WriteWeights] and [WriteGroups].
//
// WriteLETOR returns an error for query and document ids with blanks or # in them, for empty
// and repeated query ids, and for infinite values.
func WriteLETOR(w io.Writer, d *Dataset) error {
	if err := d.Validate(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, id := range d.QueryIDs {
		if id == "" || strings.ContainsAny(id, " \t\r\n#") || seen[id] {
			return fmt.Errorf("datasets: %s: query id %q cannot be written as LETOR: ids must be different words without blanks and #", d.Name, id)
		}
		seen[id] = true
	}
	out := bufio.NewWriterSize(w, 1<<16)
	var line []byte
	for q, id := range d.QueryIDs {
		for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
			line = appendFloat(line[:0], d.Labels[r])
			line = append(append(line, " qid:"...), id...)
			for c, v := range d.Row(r) {
				if math.Float32bits(v) == 0 && r > 0 {
					continue
				}
				if math.IsInf(float64(v), 0) {
					return fmt.Errorf("datasets: %s: feature %d of row %d is %g: only finite values can be written", d.Name, d.FeatureIDs[c], r, v)
				}
				line = strconv.AppendInt(append(line, ' '), int64(d.FeatureIDs[c]), 10)
				line = appendFloat(append(line, ':'), v)
			}
			if d.DocumentIDs != nil && d.DocumentIDs[r] != "" {
				if strings.ContainsFunc(d.DocumentIDs[r], unicode.IsSpace) {
					return fmt.Errorf("datasets: %s: document id %q of row %d cannot be written as LETOR: it has a blank", d.Name, d.DocumentIDs[r], r)
				}
				line = append(append(line, " # docid = "...), d.DocumentIDs[r]...)
			}
			if _, err := out.Write(append(line, '\n')); err != nil {
				return fmt.Errorf("datasets: write %s: %w", d.Name, err)
			}
		}
	}
	return flush(out, d)
}

func appendFloat(b []byte, v float32) []byte { return strconv.AppendFloat(b, float64(v), 'g', -1, 32) }

// WriteGroups writes the groups of documents as ReadFile reads them from the file FILE.groups
// next to FILE: one a line, in the order of [WriteLETOR], an empty line for none. It returns an
// error if the dataset has no groups, or names of groups that a line cannot hold.
func WriteGroups(w io.Writer, d *Dataset) error {
	if err := d.Validate(); err != nil {
		return err
	}
	if d.Groups == nil {
		return fmt.Errorf("datasets: %s: there are no groups to write", d.Name)
	}
	for _, name := range d.GroupNames {
		if name == "" || name == reader.NoGroup || strings.TrimSpace(name) != name || strings.ContainsAny(name, "\r\n\ufeff") {
			return fmt.Errorf("datasets: %s: group %q cannot be written: want a name on one line without blanks around it, and other than %s", d.Name, name, reader.NoGroup)
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
// the file FILE.weight next to FILE: one a line, in the order of [WriteLETOR]. It returns an error
// if the dataset has no weights, or both kinds, or weights of queries that all have one document:
// they would be read as weights of documents.
func WriteWeights(w io.Writer, d *Dataset) error {
	if err := d.Validate(); err != nil {
		return err
	}
	weights, of := d.Weights, []float32(nil) // of queries that have documents: WriteLETOR writes no others
	for q, weight := range d.QueryWeights {
		if d.Offsets[q] < d.Offsets[q+1] {
			of = append(of, weight)
		}
	}
	switch {
	case d.Weights == nil && d.QueryWeights == nil:
		return fmt.Errorf("datasets: %s: there are no weights to write", d.Name)
	case d.Weights != nil && d.QueryWeights != nil:
		return fmt.Errorf("datasets: %s: weights of documents and of queries cannot be written to one file", d.Name)
	case d.Weights == nil && len(of) == d.Rows():
		return fmt.Errorf("datasets: %s: weights of queries of one document each would be read as weights of documents", d.Name)
	case d.Weights == nil:
		weights = of
	}
	out := bufio.NewWriter(w)
	for _, weight := range weights {
		fmt.Fprintln(out, formatFloat(weight)) // an error stays until Flush
	}
	return flush(out, d)
}

func flush(out *bufio.Writer, d *Dataset) error {
	if err := out.Flush(); err != nil {
		return fmt.Errorf("datasets: write %s: %w", d.Name, err)
	}
	return nil
}

// formatFloat is the shortest text that reads back as the same float32.
func formatFloat(v float32) string { return string(appendFloat(nil, v)) }
