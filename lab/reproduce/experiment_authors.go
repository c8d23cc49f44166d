package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/viz"
)

// What peers/plrank/run.py leaves.
const (
	authorsEstimatesFile = "estimates.csv"
	authorsTrainingFile  = "training.csv"
	sameNoise            = "same noise" // the run of both on the same random numbers
)

// authorsChapter has no subcommand: its files come from Python.
var authorsChapter = chapter{
	name: "authors", title: "The authors' code on the same data", csv: authorsEstimatesFile,
	tables: authorsTables, plots: func(string) ([]figure, error) { return nil, nil },
}

func authorsTables(dir string) ([]viz.Table, error) {
	var tables []viz.Table
	for _, make := range []func(string) (viz.Table, error){authorsEstimates, authorsCurve, authorsSeeds} {
		t, err := make(dir)
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// authorsEstimates has the largest difference for each of the authors' functions.
func authorsEstimates(dir string) (viz.Table, error) {
	t, err := readTable(filepath.Join(dir, authorsEstimatesFile), "code", "function", "ours", "documents", "cutoff", "samples", "spread", "difference")
	if err != nil {
		return viz.Table{}, err
	}
	table := viz.Table{
		Title:   "estimates from the same rankings: the largest difference of any λ, divided by the highest gain times the sum of discounts",
		Columns: []string{"authors' function", "code of", "ours", "queries", "documents", "largest difference"},
	}
	for _, year := range t.distinct("code") {
		for _, name := range t.where("code", year).distinct("function") {
			part := t.where("code", year).where("function", name)
			off, err := part.floats("difference")
			if err != nil {
				return table, err
			}
			documents, err := part.floats("documents")
			if err != nil {
				return table, err
			}
			table.Rows = append(table.Rows, viz.Row{"`" + name + "`", year, methodOf(part.texts("ours")[0]).label, len(part.rows), span(documents), fmt.Sprintf("%.2g", slices.Max(off))})
		}
	}
	return table, nil
}

// authorsCurve is the training run of both on the same noise, at some of its epochs.
func authorsCurve(dir string) (viz.Table, error) {
	t, err := readTable(filepath.Join(dir, authorsTrainingFile), "code", "run", "epoch", "ours", "authors", "difference")
	if err != nil {
		return viz.Table{}, err
	}
	t = t.where("run", sameNoise)
	table := viz.Table{
		Title:   "DCG@5 of the test split in one training run with the same initial weights, order of queries and Gumbel noise, and the largest difference of any test score",
		Columns: []string{"epoch", "plrank"},
	}
	years := t.distinct("code")
	for _, year := range years {
		table.Columns = append(table.Columns, "code of "+year, "difference")
	}
	for _, i := range doublings(len(t.distinct("epoch"))) {
		epoch := strconv.Itoa(i + 1)
		row := viz.Row{epoch}
		for _, year := range years {
			part := t.where("code", year).where("epoch", epoch)
			if len(part.rows) != 1 {
				return table, fmt.Errorf("reproduce: %s: %d rows of epoch %s of %s, want 1", t.path, len(part.rows), epoch, year)
			}
			if len(row) == 1 {
				row = append(row, part.texts("ours")[0])
			}
			row = append(row, part.texts("authors")[0], part.texts("difference")[0])
		}
		table.Rows = append(table.Rows, row)
	}
	return table, nil
}

// authorsSeeds compares independent runs: seeds are each code's own, so they are no pairs.
func authorsSeeds(dir string) (viz.Table, error) {
	t, err := readTable(filepath.Join(dir, authorsTrainingFile), "code", "run", "epoch", "ours", "authors")
	if err != nil {
		return viz.Table{}, err
	}
	table := viz.Table{Columns: []string{"", "DCG@5", "runs", "p of Welch's test against plrank"}}
	var ours []float64
	for _, year := range t.distinct("code") {
		part := &csvTable{path: t.path, columns: t.columns}
		for _, row := range t.where("code", year).rows {
			if strings.HasPrefix(row[1], "seed ") {
				part.rows = append(part.rows, row)
			}
		}
		if len(part.rows) == 0 {
			return table, fmt.Errorf("reproduce: %s has no runs by seed of the code of %s", t.path, year)
		}
		theirs, err := part.floats("authors")
		if err != nil {
			return table, err
		}
		if ours == nil {
			if ours, err = part.floats("ours"); err != nil {
				return table, err
			}
			table.Title = fmt.Sprintf("DCG@5 of the test split after %s epochs of PL-Rank-2 with each code's own seeds, sampler and initial weights, mean and (standard deviation)", part.texts("epoch")[0])
			table.Rows = append(table.Rows, viz.Row{"plrank, package train", bracketed(ours, 3), len(ours), ""})
		}
		table.Rows = append(table.Rows, viz.Row{"code of " + year, bracketed(theirs, 3), len(theirs), fmt.Sprintf("%.2g", welch(ours, theirs))})
	}
	return table, nil
}

// span is the least and the largest of whole numbers.
func span(values []float64) string {
	return fmt.Sprintf("%.0f to %.0f", slices.Min(values), slices.Max(values))
}
