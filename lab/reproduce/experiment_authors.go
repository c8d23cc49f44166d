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
	for _, make := range []func(string) (viz.Table, error){authorsEstimates, authorsCurve, authorsLosses, authorsSpread} {
		t, err := make(dir)
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	fairness, err := authorsFairness(dir)
	return append(tables, fairness...), err
}

// authorsEstimates has the largest difference for each of the authors' functions.
func authorsEstimates(dir string) (viz.Table, error) {
	t, err := readTable(
		filepath.Join(dir, authorsEstimatesFile),
		"code",
		"function",
		"ours",
		"documents",
		"cutoff",
		"samples",
		"spread",
		"difference",
	)
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
			numbers, err := part.numbers("difference", "documents")
			if err != nil {
				return table, err
			}
			off, documents := numbers[0], numbers[1]
			table.Rows = append(
				table.Rows,
				viz.Row{
					"`" + name + "`",
					year,
					methodOf(part.texts("ours")[0]).label,
					len(part.rows),
					span(documents),
					fmt.Sprintf("%.2g", slices.Max(off)),
				},
			)
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
	var all tests
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
		theirs := table.Rows[len(table.Rows)-1]
		all.add(test.PValue, func(adjusted float64) {
			theirs[len(theirs)-1] = fmt.Sprintf("%s (p = %.2g)", signed(test.Difference, 2), adjusted)
		})
	}
	return table, all.correct()
}

// authorsSpread has the variance between runs of PL-Rank-2: of ours, of the authors' code from our initial weights, and of that by
// what is drawn anew in each run.
func authorsSpread(dir string) (viz.Table, error) {
	both, err := readTable(filepath.Join(dir, authorsLossesFile), "code", "loss", "epoch", "dcg@5")
	if err != nil {
		return viz.Table{}, err
	}
	t, err := readTable(filepath.Join(dir, authorsSpreadFile), "code", "anew", "dcg@5")
	if err != nil {
		return viz.Table{}, err
	}
	table := viz.Table{
		Title:   "DCG@5 of the test split after 40 epochs of PL-Rank-2, mean and (standard deviation), by what is drawn anew in each run; p of the F-test that the variance equals the first row's, by Holm's method over this table",
		Columns: []string{"code", "initial weights by", "drawn anew", "runs", "DCG@5", "variance", "p"},
	}
	both = both.where("loss", reference).where("epoch", "40")
	var first []float64
	var all tests // of all rows but the first
	add := func(code, weights, anew string, part *csvTable) error {
		dcg, err := part.floats("dcg@5")
		if err != nil {
			return err
		}
		row := viz.Row{code, weights, anew, len(dcg), bracketed(dcg, 3), fmt.Sprintf("%.3f", stat.Variance(dcg, nil)), ""}
		if table.Rows = append(table.Rows, row); first == nil {
			first = dcg
			return nil
		}
		all.add(sameVariance(first, dcg), func(adjusted float64) { row[len(row)-1] = fmt.Sprintf("%.2g", adjusted) })
		return nil
	}
	if err := add("plrank", "plrank", "all", t.where("code", "plrank")); err != nil {
		return table, err
	}
	if err := add(codeName("2021"), "plrank", "all", both.where("code", "2021")); err != nil {
		return table, err
	}
	for _, anew := range t.distinct("anew") {
		if err := add(codeName("2021"), "NumPy", anew, t.where("code", "2021").where("anew", anew)); err != nil {
			return table, err
		}
	}
	return table, all.correct()
}

// sameVariance is the two-sided p-value of the F-test that two samples have the same variance.
func sameVariance(a, b []float64) float64 {
	f := distuv.F{D1: float64(len(a) - 1), D2: float64(len(b) - 1)}
	p := f.CDF(stat.Variance(a, nil) / stat.Variance(b, nil))
	return 2 * min(p, 1-p)
}

// A fairRow names the runs in a row of the table for fairness.
type fairRow struct{ code, length, loss string }

// fairColumns are the measures and epochs of the tables for fairness.
var fairColumns = []struct{ name, measure, epoch string }{
	{"squares, epoch 8", disparity, "8"}, {"squares, epoch 16", disparity, "16"},
	{"absolute, epoch 8", "abs-disparity", "8"}, {"absolute, epoch 16", "abs-disparity", "16"},
}

// authorsFairness has both measures in the course of training, with the query size as a feature and without; and for
// either code what LambdaLoss, the query size and the code change.
func authorsFairness(dir string) ([]viz.Table, error) {
	rows, values, err := fairValues(filepath.Join(dir, authorsFairnessFile))
	if err != nil {
		return nil, err
	}
	table := viz.Table{
		Title:   "disparity of the test split by squares, as in the paper, and by absolute values, mean and (standard deviation)",
		Columns: []string{"code", "query size a feature", "", "runs"},
	}
	changes := map[string]*pairs{"plrank": {}, "2021": {}} // by code
	for _, c := range fairColumns {
		table.Columns = append(table.Columns, c.name)
		for _, p := range changes {
			p.columns = append(p.columns, c.name)
		}
	}
	compare := func(r, than fairRow, what string) {
		if values[than] == nil {
			return // the authors' script has the query size always
		}
		p := changes[r.code]
		for column := range fairColumns {
			p.add(len(p.rows), column, values[r][column], values[than][column])
		}
		p.rows = append(p.rows, what)
	}
	for _, r := range rows {
		row := viz.Row{codeName(r.code), r.length, methodOfFair(r.loss).label, len(values[r][0])}
		for column := range fairColumns {
			row = append(row, bracketedShort(values[r][column]))
		}
		table.Rows = append(table.Rows, row)
		if r.loss != fair(reference) {
			size := map[string]string{"no": "without", "yes": "with"}[r.length]
			compare(r, fairRow{r.code, r.length, fair(reference)}, methodOfFair(r.loss).label+" minus PL-Rank-2, "+size+" the query size")
		}
		if r.code == "2021" { // the draws of one number are not the same
			compare(r, fairRow{"plrank", r.length, r.loss}, methodOfFair(r.loss).label+" minus plrank's, with the query size")
		}
		if r.length == "yes" {
			compare(r, fairRow{r.code, "no", r.loss}, methodOfFair(r.loss).label+" with the query size minus without")
		}
	}
	tables := []viz.Table{table}
	for _, code := range []string{"plrank", "2021"} {
		tested, err := changes[code].table("differences of the disparity, code "+codeName(code), 4)
		if err != nil || tested == nil {
			return tables, err
		}
		tables = append(tables, *tested)
	}
	return tables, nil
}

// fairValues are the rows of the table for fairness, and of each and every column the values of all runs.
func fairValues(path string) (rows []fairRow, values map[fairRow][][]float64, err error) {
	t, err := readTable(path, "code", "loss", "length", "run", "epoch", disparity, "abs-disparity")
	if err != nil {
		return nil, nil, err
	}
	values = map[fairRow][][]float64{}
	for i, code := range t.texts("code") {
		r := fairRow{code, t.texts("length")[i], t.texts("loss")[i]}
		if values[r] != nil {
			continue
		}
		rows = append(rows, r)
		part := t.where("code", code).where("length", r.length).where("loss", r.loss)
		for _, c := range fairColumns {
			of, err := part.where("epoch", c.epoch).floats(c.measure)
			if err != nil {
				return nil, nil, err
			}
			values[r] = append(values[r], of)
		}
	}
	return rows, values, nil
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
