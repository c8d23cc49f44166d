package cli

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/train"
)

// A PerQuery holds values by metric and query.
type PerQuery struct {
	Metrics []string
	Queries []string
	Texts   []string                      // measures of trec_eval whose values are texts, which are left out
	values  map[string]map[string]float64 // by query and metric; NaN: the query is left out
}

func newPerQuery() *PerQuery { return &PerQuery{values: map[string]map[string]float64{}} }

// NewPerQuery returns the table of a report on a split with these queries, whose ids must differ.
func NewPerQuery(queries, metrics []string, report train.SplitReport) (*PerQuery, error) {
	t := newPerQuery()
	for _, metric := range metrics {
		for q, v := range report.PerQuery[metric] {
			if err := t.add(queries[q], metric, v); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

func (t *PerQuery) add(query, metric string, value float64) error {
	if t.values[query] == nil {
		t.values[query], t.Queries = map[string]float64{}, append(t.Queries, query)
	}
	if _, again := t.values[query][metric]; again {
		return fmt.Errorf("query %q has two values of %s: want one", query, metric)
	}
	t.values[query][metric] = value
	if !slices.Contains(t.Metrics, metric) {
		t.Metrics = append(t.Metrics, metric)
	}
	return nil
}

// Value returns the metric of a query, NaN if it has none.
func (t *PerQuery) Value(query, metric string) float64 {
	if v, ok := t.values[query][metric]; ok {
		return v
	}
	return math.NaN()
}

// Column returns the values of a metric by the queries that have one, and these queries.
func (t *PerQuery) Column(metric string) (values []float64, queries []string) {
	for _, query := range t.Queries {
		if v := t.Value(query, metric); !math.IsNaN(v) {
			values, queries = append(values, v), append(queries, query)
		}
	}
	return values, queries
}

var perQueryHeader = []string{"query", "metric", "value"}

// allQueries stands for the mean over queries in what trec_eval prints.
const allQueries = "all"

// Write writes the table in the form of trec_eval -q if the name of the file ends in .trec, else as CSV.
func (t *PerQuery) Write(w io.Writer, name string) error {
	if filepath.Ext(name) == ".trec" {
		return t.writeTREC(w)
	}
	out := csv.NewWriter(w)
	_ = out.Write(perQueryHeader) // a failed write stays failed
	for _, query := range t.Queries {
		for _, metric := range t.Metrics {
			if v := t.Value(query, metric); !math.IsNaN(v) {
				_ = out.Write([]string{query, metric, strconv.FormatFloat(v, 'g', -1, 64)})
			}
		}
	}
	out.Flush()
	return out.Error()
}

func (t *PerQuery) writeTREC(w io.Writer) error {
	line := func(metric, query string, value float64) {
		if !math.IsNaN(value) {
			fmt.Fprintf(w, "%-22s\t%s\t%6.4f\n", metric, query, value) // a failed write stays failed
		}
	}
	for _, query := range t.Queries {
		if words := strings.Fields(query); query == allQueries || len(words) != 1 || words[0] != query {
			return fmt.Errorf("query %q: the form of trec_eval wants a word other than %s: name a file that ends in .csv", query, allQueries)
		}
		for _, metric := range t.Metrics {
			line(metric, query, t.Value(query, metric))
		}
	}
	for _, metric := range t.Metrics {
		values, _ := t.Column(metric)
		line(metric, allQueries, stat.Mean(values, nil))
	}
	return nil
}

// IsPerQuery reports whether a file that begins with this line is a table.
func IsPerQuery(line string) bool {
	return isPerQueryHeader(line) || len(strings.Fields(line)) == len(perQueryHeader)
}

// isPerQueryHeader reports whether a line is the header of a table in CSV.
func isPerQueryHeader(line string) bool {
	return strings.EqualFold(strings.ReplaceAll(strings.TrimSpace(line), `"`, ""), strings.Join(perQueryHeader, ","))
}

// ReadPerQuery reads a table in either form, which it knows by the first line. It leaves out what trec_eval prints on
// all queries. Errors name the line.
func ReadPerQuery(name string, r io.Reader) (*PerQuery, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	t, read := newPerQuery(), (*PerQuery).readTREC
	if isPerQueryHeader(first) {
		read = (*PerQuery).readCSV
	}
	line, err := read(t, string(text))
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, line, err)
	}
	if len(t.Queries) == 0 {
		return nil, fmt.Errorf("%s has no values of queries", name)
	}
	return t, nil
}

// textMeasures of trec_eval have texts as values. A parameter may follow their names, as in relstring_20.
var textMeasures = []string{"runid", "relstring"}

// addText adds a value as it is written, unless its measure is a text.
func (t *PerQuery) addText(query, metric, value string) error {
	if name, _, _ := strings.Cut(metric, "_"); slices.Contains(textMeasures, name) {
		if !slices.Contains(t.Texts, metric) {
			t.Texts = append(t.Texts, metric)
		}
		return nil
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("%q is not the value of a metric: want a finite number", value)
	}
	return t.add(query, metric, v)
}

func (t *PerQuery) readCSV(text string) (line int, err error) {
	in := csv.NewReader(strings.NewReader(text))
	in.ReuseRecord = true
	for {
		record, err := in.Read()
		if bad := (*csv.ParseError)(nil); errors.As(err, &bad) {
			return bad.Line, bad.Err
		}
		if err == io.EOF {
			return 0, nil
		}
		if line, _ = in.FieldPos(0); line == 1 { // the header
			continue
		}
		if err := t.addText(record[0], record[1], record[2]); err != nil {
			return line, err
		}
	}
}

func (t *PerQuery) readTREC(text string) (line int, err error) {
	for row := range strings.Lines(text) {
		line++
		words := strings.Fields(row)
		switch {
		case len(words) == 0 || len(words) == 3 && words[1] == allQueries:
			continue
		case len(words) != 3:
			return line, fmt.Errorf(`%d words: want "metric query value" as of trec_eval -q, or CSV with the columns %s`, len(words),
				strings.Join(perQueryHeader, ","))
		}
		if err := t.addText(words[1], words[0], words[2]); err != nil {
			return line, err
		}
	}
	return 0, nil
}
