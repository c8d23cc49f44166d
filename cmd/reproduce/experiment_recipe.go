package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/plrank/plrank/viz"
)

const recipeFile = "exact-or-rb.csv"

// recipeChapter is docs/RECIPE.md's choice of the default loss; its runs are by cmd/train.
var recipeChapter = chapter{
	name: "exact-or-rb", title: "Exact gradients or PL-Rank-RB in the default recipe", csv: recipeFile,
	tables: recipeTables, plots: func(string) ([]figure, error) { return nil, nil },
}

func recipeTables(dir string) ([]viz.Table, error) {
	const value, seconds = "valiExpectedNDCG10", "trainSecondsPerEpoch"
	t, err := readTable(filepath.Join(dir, recipeFile), "data", "seed", "loss", value, seconds)
	if err != nil {
		return nil, err
	}
	table := viz.Table{Columns: []string{"", "plrank-exact", "plrank-rb", "difference", "time"}}
	for _, name := range collectionsOf(t) {
		folds := foldsOf(t, name)
		var means [2][]float64 // by loss and seed
		var times [2][]float64 // of all runs
		for i, loss := range []string{exactLoss, "plrank-rb"} {
			for _, seed := range t.distinct("seed") {
				sum := 0.0
				for _, fold := range folds {
					run := t.where("data", fold).where("loss", loss).where("seed", seed)
					values, err := run.floats(value)
					if err != nil {
						return nil, err
					}
					took, err := run.floats(seconds)
					if err != nil {
						return nil, err
					}
					if len(values) != 1 {
						return nil, fmt.Errorf("reproduce: %s: %d runs of %s by %s with seed %s, want 1", t.path, len(values), fold, loss, seed)
					}
					sum += values[0]
					times[i] = append(times[i], took[0])
				}
				means[i] = append(means[i], sum/float64(len(folds)))
			}
		}
		var difference, ratio []float64
		for s := range means[0] {
			difference = append(difference, means[0][s]-means[1][s])
		}
		for r := range times[0] {
			ratio = append(ratio, times[0][r]/times[1][r])
		}
		mean, sd := meanSD(difference)
		if len(folds) > 1 {
			name += fmt.Sprintf(", mean of %d folds", len(folds))
		}
		table.Rows = append(table.Rows, viz.Row{name, fmt.Sprintf("%.4f", first(meanSD(means[0]))), fmt.Sprintf("%.4f", first(meanSD(means[1]))),
			fmt.Sprintf("%s ± %.4f", signed(mean, 4), sd), fmt.Sprintf("%.2f", first(meanSD(ratio)))})
	}
	return []viz.Table{table}, nil
}

// collectionsOf are the names of data without that of a fold.
func collectionsOf(t *csvTable) []string {
	c := &csvTable{columns: []string{"data"}}
	for _, name := range t.distinct("data") {
		name, _, _ = strings.Cut(name, "/Fold")
		c.rows = append(c.rows, []string{name})
	}
	return c.distinct("data")
}

func foldsOf(t *csvTable, collection string) []string {
	var folds []string
	for _, name := range t.distinct("data") {
		if name == collection || strings.HasPrefix(name, collection+"/Fold") {
			folds = append(folds, name)
		}
	}
	return folds
}
