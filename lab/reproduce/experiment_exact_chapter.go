package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"

	"github.com/plrank/plrank/viz"
)

// The CSV files of subcommand exact.
const (
	exactFile = "exact.csv"
	costFile  = "exact-cost.csv"
	pairFile  = "exact-pairs.csv"

	wholeFile      = "exact-whole.csv"
	wholeTimesFile = "exact-whole-times.csv"
)

// defaultTolerance is the default of plackett.Expectation.
const defaultTolerance = "1e-07"

var exactChapter = chapter{
	name:  "exact",
	title: "Exact gradients",
	csv:   exactFile,
	reading: fmt.Sprintf(
		"Normal scores of standard deviation sd and independent labels with the frequencies of MSLR-WEB30K. Errors are the largest over %d lists, measured against the tolerance %v. "+
			"Scale is max ρ Σ θ for λ and max θ for the exposure. Times are the shortest of %d on one core, taken in turn with PL-Rank-RB with %d samples, sampling included.",
		exactLists,
		exactTruth,
		exactRepeats,
		exactSamples,
	),
	tables: exactTables,
	plots:  exactPlots,
}

func exactTables(dir string) ([]viz.Table, error) {
	errors, err := readTable(filepath.Join(dir, exactFile), exactColumns...)
	if err != nil {
		return nil, err
	}
	costs, err := readTable(filepath.Join(dir, costFile), costColumns...)
	if err != nil {
		return nil, err
	}
	byTolerance, err := toleranceTable(errors)
	if err != nil {
		return nil, err
	}
	spread, err := spreadTable(
		errors.where("tolerance", defaultTolerance),
		"Error of λ over its largest entry at the tolerance 1e-7, and the mean number of nodes",
		func(row map[string]float64) string {
			return fmt.Sprintf("%.0e (%.0f)", row["lambda_error_of_largest"], row["nodes"])
		},
	)
	if err != nil {
		return nil, err
	}
	cost, err := spreadTable(
		costs,
		"Microseconds of an exact gradient, and the number of samples that PL-Rank-RB draws and uses in that time",
		func(row map[string]float64) string {
			return fmt.Sprintf("%s (%s)", rounded(row["exact_seconds"]*1e6), rounded(row["exact_seconds"]/row["sampled_seconds"]*row["samples"]))
		},
	)
	if err != nil {
		return nil, err
	}
	whole, err := wholeTables(dir)
	return append([]viz.Table{byTolerance, spread, cost}, whole...), err
}

// rounded is a number above 0 with two significant digits.
func rounded(v float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	return strconv.FormatFloat(math.Round(v/unit)*unit, 'f', max(0, -int(math.Round(math.Log10(unit)))), 64)
}

// toleranceTable is the largest errors of each tolerance and cutoff.
func toleranceTable(t *csvTable) (viz.Table, error) {
	table := viz.Table{Title: "Largest errors of λ and of the exposure, over their scales, for all D and sd", Columns: []string{"K"}}
	for _, tolerance := range t.distinct("tolerance") {
		table.Columns = append(table.Columns, "tolerance "+exponent(tolerance))
	}
	for _, k := range []string{"5", "10", "24", "50", "125"} {
		row := viz.Row{k}
		for _, tolerance := range t.distinct("tolerance") {
			at := t.where("cutoff", k).where("tolerance", tolerance)
			errors, err := at.numbers("lambda_error", "exposure_error")
			if err != nil {
				return table, err
			}
			row = append(row, fmt.Sprintf("%.0e, %.0e", largest(errors[0]), largest(errors[1])))
		}
		table.Rows = append(table.Rows, row)
	}
	return table, nil
}

// exponent shortens 1e-07 to 1e-7.
func exponent(text string) string {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	return fmt.Sprintf("1e%.0f", math.Log10(v))
}

// spreadTable has a row for each D and K and a column for each spread of the scores.
func spreadTable(t *csvTable, title string, text func(row map[string]float64) string) (viz.Table, error) {
	table := viz.Table{Title: title, Columns: []string{"D", "K"}}
	for _, sd := range t.distinct("sd") {
		table.Columns = append(table.Columns, "sd "+sd)
	}
	for _, d := range t.distinct("documents") {
		for _, k := range t.where("documents", d).distinct("cutoff") {
			rows := t.where("documents", d).where("cutoff", k)
			row := viz.Row{d, k}
			for i := range rows.rows {
				values, err := rows.values(i)
				if err != nil {
					return table, err
				}
				row = append(row, text(values))
			}
			table.Rows = append(table.Rows, row)
		}
	}
	return table, nil
}

func exactPlots(dir string) ([]figure, error) {
	t, err := readTable(filepath.Join(dir, pairFile), pairColumns...)
	if err != nil {
		return nil, err
	}
	costs, err := wholePlot(dir)
	if err != nil {
		return nil, err
	}
	figures := []figure{costs}
	for _, sd := range t.distinct("sd") {
		p := viz.Plot{
			Title: fmt.Sprintf("W for %d documents, DCG@%d, sd %s", pairDocuments, pairCutoff, sd),
			X:     "the other document, by descending score", Y: "weight of the pair",
		}
		for i, d := range pairShown {
			rows := t.where("sd", sd).where("document", strconv.Itoa(d))
			columns, err := rows.numbers("weight", "lambdarank", "other")
			if err != nil {
				return nil, err
			}
			exact, rank, others := columns[0], columns[1], columns[2]
			// LambdaRank's have another unit: the same sum.
			scale := sum(exact) / sum(rank)
			for j := range rank {
				rank[j] *= scale
			}
			exact[d-1], rank[d-1] = math.NaN(), math.NaN() // no pair
			p.Series = append(p.Series,
				viz.Series{Name: fmt.Sprintf("document %d", d), X: others, Y: exact, Color: i + 1},
				viz.Series{Name: fmt.Sprintf("document %d, LambdaRank", d), X: others, Y: rank, Color: i + 1, Style: viz.Points})
		}
		figures = append(figures, figure{"exact-pairs-sd" + sd, p})
	}
	return figures, nil
}
