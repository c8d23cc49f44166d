package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/viz"
)

const changesFile = "changes.csv"

// noChange is the column of the default recipe; the other columns have the flags of changes.
const noChange = "default"

var changesChapter = chapter{
	name:  "changes",
	title: "Single changes of the default recipe",
	csv:   changesFile,
	reading: fmt.Sprintf(
		"%s. Nested folds: in each run the training and validation queries are shuffled and divided into %d parts. Each part measures what three of the others train; the fourth picks the best epoch. The test split is not used. Values of a query are averaged over the runs first.",
		strings.ToUpper(changeMetric),
		heldOutParts,
	),
	tables: changesTables,
	plots:  func(string) ([]figure, error) { return nil, nil },
}

// changesTables is the table of a folder of results, or of all that stand in its folders, a column
// each.
func changesTables(dir string) ([]viz.Table, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", changesFile))
	if err != nil {
		return nil, err
	}
	if files == nil {
		files = []string{filepath.Join(dir, changesFile)}
	}
	table := viz.Table{
		Title: fmt.Sprintf(
			"The default recipe, and the difference that a change makes: mean ± standard error over queries; %s and %s: p < %v in the paired t-test after Holm's correction over this table; –: it is the default",
			worse,
			better,
			pairLevel,
		),
		Columns: []string{""},
	}
	rows := map[string]viz.Row{}
	var order []string
	var all tests
	for column, file := range files {
		t, err := readTable(file, "query", "runs", noChange)
		if err != nil {
			return nil, err
		}
		var id identity
		if _, err := readJSON(filepath.Join(filepath.Dir(file), dataFile), &id); err != nil {
			return nil, err
		}
		table.Columns = append(table.Columns, id.Name)
		for _, change := range t.columns[2:] {
			if rows[change] == nil {
				order = append(order, change)
				rows[change] = viz.Row{"`" + change + "`"}
				for range files {
					rows[change] = append(rows[change], "–")
				}
			}
			values, than, err := pairsOf(t, change)
			if err != nil {
				return nil, err
			}
			if change == noChange {
				rows[change][0] = "the default"
				rows[change][1+column] = fmt.Sprintf("%.4f (%d queries, %s runs)", first(meanSD(values)), len(values), t.rows[0][1])
				continue
			}
			test, err := metrics.PairedT(values, than)
			if err != nil {
				return nil, fmt.Errorf("reproduce: %s: %s: %w", file, change, err)
			}
			for q := range values {
				values[q] -= than[q]
			}
			_, sd := meanSD(values)
			text := fmt.Sprintf("%s ± %.4f", signed(test.Difference, 4), sd/math.Sqrt(float64(len(values))))
			all.add(test.PValue, func(adjusted float64) {
				if adjusted < pairLevel {
					text += " " + pairMark(test.Difference, adjusted)
				}
				rows[change][1+column] = text
			})
		}
	}
	if err := all.correct(); err != nil {
		return nil, err
	}
	for _, change := range order {
		table.Rows = append(table.Rows, rows[change])
	}
	return []viz.Table{table}, nil
}

// pairsOf returns the values of the queries that a change has, and the default's values.
func pairsOf(t *csvTable, change string) (values, than []float64, err error) {
	part := &csvTable{path: t.path, columns: t.columns}
	at := slices.Index(t.columns, change)
	for _, row := range t.rows {
		if row[at] != "" {
			part.rows = append(part.rows, row)
		}
	}
	if values, err = part.floats(change); err == nil {
		than, err = part.floats(noChange)
	}
	return values, than, err
}
