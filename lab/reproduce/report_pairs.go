package main

import (
	"fmt"
	"math"
	"strconv"

	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/viz"
)

// The marks of a table of pairs.
const (
	worse        = "▽"
	better       = "△"
	noDifference = "−"
)

// pairLevel is the probability of any false mark in a table of pairs.
const pairLevel = 0.05

// pairs compare methods with others run by run: runs of one number have the same seed, so what
// a seed is good for is in both and cancels.
type pairs struct {
	columns []string
	rows    []string
	cells   []pair
}

// A pair are the runs of two methods, which stand in a table in a row and a column.
type pair struct {
	row, column int
	runs, than  []float64
}

// tests are the p-values of a table, and what writes each into it when all are corrected.
type tests struct {
	values []float64
	write  []func(adjusted float64)
}

func (t *tests) add(value float64, write func(adjusted float64)) {
	t.values, t.write = append(t.values, value), append(t.write, write)
}

// correct corrects all together by Holm's method, and writes them.
func (t *tests) correct() error {
	adjusted, err := metrics.Holm(t.values)
	for i, p := range adjusted {
		t.write[i](p)
	}
	return err
}

// allPairs compare every method with those after it.
func allPairs(labels []string, runs [][]float64) *pairs {
	p := &pairs{columns: labels[1:], rows: labels[:len(labels)-1]}
	for row := range runs {
		for column := row + 1; column < len(runs); column++ {
			p.add(row, column-1, runs[row], runs[column])
		}
	}
	return p
}

// add adds a cell. Both methods must have as many runs as the methods of the other cells, two or
// more, or there is no test.
func (p *pairs) add(row, column int, runs, than []float64) {
	if len(runs) == len(than) && len(runs) > 1 && (p.cells == nil || len(runs) == len(p.cells[0].runs)) {
		p.cells = append(p.cells, pair{row, column, runs, than})
	}
}

// table returns the differences with the p-values of paired t-tests, corrected together by
// Holm's method; nil if there is nothing to test. Its title begins with what.
func (p *pairs) table(what string, digits int) (*viz.Table, error) {
	if len(p.cells) == 0 {
		return nil, nil
	}
	table := viz.Table{
		Title: fmt.Sprintf("%s, mean of %d runs and (p of the paired t-test by Holm's method over this table), %s and %s at p < %v",
			what, len(p.cells[0].runs), worse, better, pairLevel),
		Columns: append([]string{""}, p.columns...),
	}
	for _, name := range p.rows {
		row := viz.Row{name}
		for range p.columns {
			row = append(row, "–")
		}
		table.Rows = append(table.Rows, row)
	}
	var all tests
	for _, c := range p.cells {
		test, err := metrics.PairedT(c.runs, c.than)
		if err != nil {
			return nil, fmt.Errorf("reproduce: %s: %w", p.rows[c.row], err)
		}
		all.add(test.PValue, func(adjusted float64) {
			table.Rows[c.row][1+c.column] = fmt.Sprintf(
				"%s (%.2g) %s",
				signed(test.Difference, digits),
				adjusted,
				pairMark(test.Difference, adjusted),
			)
		})
	}
	return &table, all.correct()
}

// withPairs returns a table, followed by its table of pairs if there is something to test.
func withPairs(table viz.Table, p *pairs, what string, digits int) ([]viz.Table, error) {
	tables := []viz.Table{table}
	tested, err := p.table(what, digits)
	if tested != nil {
		tables = append(tables, *tested)
	}
	return tables, err
}

// rowMinusColumn says that differences are between all methods.
func rowMinusColumn(measure string) string {
	return measure + " of the row's method minus the column's"
}

// minusReference says that differences are from the reference.
func minusReference(measure string) string {
	return fmt.Sprintf("%s minus %s's", measure, methodOf(reference).label)
}

func pairMark(difference, p float64) string {
	switch {
	case p >= pairLevel:
		return noDifference
	case difference < 0:
		return worse
	}
	return better
}

// signed is a number with its sign.
func signed(v float64, digits int) string {
	text := strconv.FormatFloat(math.Abs(v), 'f', digits, 64)
	if v < 0 {
		return "−" + text
	}
	return "+" + text
}
