package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/viz"
)

// What peers/plrank/run.py leaves.
const (
	authorsEstimatesFile = "estimates.csv"
	authorsTrainingFile  = "training.csv"
	authorsLossesFile    = "losses.csv"
	authorsSpreadFile    = "spread.csv"
	authorsFairnessFile  = "fairness.csv"
)

// authorsChapter has no subcommand: its files come from Python.
var authorsChapter = chapter{
	name: "authors", title: "The authors' code on the same data", csv: authorsEstimatesFile,
	tables: authorsTables, plots: func(string) ([]figure, error) { return nil, nil },
}

func authorsTables(dir string) ([]viz.Table, error) {
	var tables []viz.Table
	for _, make := range []func(string) (viz.Table, error){authorsEstimates, authorsCurve, authorsLosses, authorsSpread, authorsFairness} {
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
	t, err := readTable(filepath.Join(dir, authorsTrainingFile), "code", "epoch", "ours", "authors", "difference")
	if err != nil {
		return viz.Table{}, err
	}
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

// authorsLosses has the curves of every loss by both codes, which begin with the same weights run by run.
func authorsLosses(dir string) (viz.Table, error) {
	t, err := readTable(filepath.Join(dir, authorsLossesFile), "code", "loss", "rate", "run", "epoch", "dcg@5")
	if err != nil {
		return viz.Table{}, err
	}
	epochs := t.distinct("epoch")
	table := viz.Table{
		Title:   "DCG@5 of the test split, mean and (standard deviation), from the same initial weights in each run, with an order of queries and rankings of each code's own; p of the paired t-test at the last epoch after Holm's correction over this table",
		Columns: []string{"", "code", "runs"},
	}
	for _, epoch := range epochs {
		table.Columns = append(table.Columns, "epoch "+epoch)
	}
	table.Columns = append(table.Columns, "difference")
	var values []float64
	for _, loss := range t.distinct("loss") {
		part := t.where("loss", loss)
		var last [][]float64
		for _, code := range []string{"plrank", "2021"} {
			of := part.where("code", code)
			name := methodOf(loss + rateSeparator + part.texts("rate")[0]).label
			row := viz.Row{name, codeName(code), len(of.distinct("run"))}
			for _, epoch := range epochs {
				dcg, err := of.where("epoch", epoch).floats("dcg@5")
				if err != nil {
					return table, err
				}
				row = append(row, bracketed(dcg, 2))
				if epoch == epochs[len(epochs)-1] {
					last = append(last, dcg)
				}
			}
			table.Rows = append(table.Rows, append(row, ""))
		}
		test, err := metrics.PairedT(last[1], last[0])
		if err != nil {
			return table, fmt.Errorf("reproduce: %s: %s: %w", t.path, loss, err)
		}
		values = append(values, test.PValue)
		table.Rows[len(table.Rows)-1][len(table.Columns)-1] = signed(test.Difference, 2)
	}
	adjusted, err := metrics.Holm(values)
	for i := range adjusted {
		row := table.Rows[2*i+1]
		row[len(row)-1] = fmt.Sprintf("%s (p = %.2g)", row[len(row)-1], adjusted[i])
	}
	return table, err
}

// authorsSpread has the standard deviation between runs of PL-Rank-2 by what is drawn anew in them.
func authorsSpread(dir string) (viz.Table, error) {
	t, err := readTable(filepath.Join(dir, authorsSpreadFile), "code", "weights", "anew", "run", "dcg@5")
	if err != nil {
		return viz.Table{}, err
	}
	table := viz.Table{
		Title:   "DCG@5 of the test split after 40 epochs of PL-Rank-2, rate 0.01, by what is drawn anew in each run, and p of the F-test that the variance is that of the first row",
		Columns: []string{"code", "initial weights of", "drawn anew", "runs", "DCG@5", "variance", "p"},
	}
	var first []float64
	for _, code := range t.distinct("code") {
		for _, weights := range t.where("code", code).distinct("weights") {
			part := t.where("code", code).where("weights", weights)
			for _, anew := range part.distinct("anew") {
				dcg, err := part.where("anew", anew).floats("dcg@5")
				if err != nil {
					return table, err
				}
				p := ""
				if first == nil {
					first = dcg
				} else {
					p = fmt.Sprintf("%.2g", sameVariance(first, dcg))
				}
				_, sd := meanSD(dcg)
				table.Rows = append(table.Rows, viz.Row{codeName(code), weights, anew, len(dcg), bracketed(dcg, 3), fmt.Sprintf("%.3f", sd*sd), p})
			}
		}
	}
	return table, nil
}

// sameVariance is the two-sided p-value of the F-test that two samples have the same variance.
func sameVariance(a, b []float64) float64 {
	f := distuv.F{D1: float64(len(a) - 1), D2: float64(len(b) - 1)}
	p := f.CDF(stat.Variance(a, nil) / stat.Variance(b, nil))
	return 2 * min(p, 1-p)
}

// authorsFairness has both measures in the course of training, with the query size as a feature and without.
func authorsFairness(dir string) (viz.Table, error) {
	t, err := readTable(filepath.Join(dir, authorsFairnessFile), "code", "loss", "scale", "length", "run", "epoch", disparity, "abs-disparity")
	if err != nil {
		return viz.Table{}, err
	}
	epochs := []string{"4", "8", "20"}
	table := viz.Table{
		Title:   "disparity of the test split by squares, as in the paper, and by absolute values, mean and (standard deviation)",
		Columns: []string{"Yahoo's shape, scale", "", "code", "query size a feature", "runs"},
	}
	for _, measure := range []string{"squares", "absolute"} {
		for _, epoch := range epochs {
			table.Columns = append(table.Columns, measure+", epoch "+epoch)
		}
	}
	for _, scale := range t.distinct("scale") {
		for _, loss := range t.where("scale", scale).distinct("loss") {
			for _, code := range []string{"plrank", "2021"} {
				for _, length := range []string{"no", "yes"} {
					part := t.where("scale", scale).where("loss", loss).where("code", code).where("length", length)
					if len(part.rows) == 0 {
						continue // the authors' script has the query size always
					}
					row := viz.Row{scale, methodOfFair(loss).label, codeName(code), length, len(part.distinct("run"))}
					for _, measure := range []string{disparity, "abs-disparity"} {
						for _, epoch := range epochs {
							v, err := part.where("epoch", epoch).floats(measure)
							if err != nil {
								return table, err
							}
							row = append(row, bracketedShort(v))
						}
					}
					table.Rows = append(table.Rows, row)
				}
			}
		}
	}
	return table, nil
}

// codeName is a code as the tables have it.
func codeName(code string) string {
	if code == "plrank" {
		return code
	}
	return "of " + code
}

// span is the least and the largest of whole numbers.
func span(values []float64) string {
	return fmt.Sprintf("%.0f to %.0f", slices.Min(values), slices.Max(values))
}
