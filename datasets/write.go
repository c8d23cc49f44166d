package datasets

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// WriteLETOR writes a dataset as LETOR text, which ReadFile reads back as the same dataset, bit
// for bit: NaN for missing values, "# docid = X" for document ids. Zeros are left out except in
// the first line, which has every feature. Categories are written as the numbers of their Levels. The format has no place for
// feature names, Levels, gains, logged exposure and scores, base scores, weights, groups and empty queries.
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

func flush(out *bufio.Writer, d *Dataset) error {
	if err := out.Flush(); err != nil {
		return fmt.Errorf("datasets: write %s: %w", d.Name, err)
	}
	return nil
}

// formatFloat is the shortest text that reads back as the same float32.
func formatFloat(v float32) string { return string(appendFloat(nil, v)) }
