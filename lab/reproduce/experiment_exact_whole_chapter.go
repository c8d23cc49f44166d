package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"

	"github.com/plrank/plrank/viz"
)

// wholeTables are the errors and the costs of DCG of whole lists.
func wholeTables(dir string) ([]viz.Table, error) {
	t, err := readTable(filepath.Join(dir, wholeFile), wholeColumns...)
	if err != nil {
		return nil, err
	}
	errors := viz.Table{
		Title:   "DCG of whole lists: terms, and errors of λ and of the exposure over their scales",
		Columns: []string{"D"},
	}
	for _, tolerance := range t.distinct("tolerance") {
		errors.Columns = append(errors.Columns, "tolerance "+exponent(tolerance))
	}
	for _, d := range t.distinct("documents") {
		row := viz.Row{d}
		for _, tolerance := range t.distinct("tolerance") {
			at := t.where("documents", d).where("tolerance", tolerance)
			if len(at.rows) == 0 {
				row = append(row, "")
				continue
			}
			v, err := at.values(0)
			if err != nil {
				return nil, err
			}
			terms := "sweep"
			if v["terms"] > 0 {
				terms = fmt.Sprint(v["terms"])
			}
			row = append(row, fmt.Sprintf("%s: %.0e, %.0e", terms, v["lambda_error"], v["exposure_error"]))
		}
		errors.Rows = append(errors.Rows, row)
	}
	t, err = readTable(filepath.Join(dir, wholeTimesFile), wholeTimes...)
	if err != nil {
		return nil, err
	}
	costs := viz.Table{
		Title:   "Milliseconds of a gradient of DCG of the whole list, and how many times the product's",
		Columns: []string{"D = K", "product", "DCG@10", "sweep", fmt.Sprintf("PL-Rank-RB, N = %d", exactSamples)},
	}
	for i := range t.rows {
		v, err := t.values(i)
		if err != nil {
			return nil, err
		}
		product := v["product_seconds"]
		row := viz.Row{t.texts("documents")[i], rounded(1e3 * product)}
		for _, seconds := range []float64{v["top10_seconds"], v["sweep_seconds"], sampledSeconds(v)} {
			if math.IsNaN(seconds) {
				row = append(row, "")
				continue
			}
			row = append(row, fmt.Sprintf("%s (%s)", rounded(1e3*seconds), rounded(seconds/product)))
		}
		costs.Rows = append(costs.Rows, row)
	}
	return []viz.Table{errors, costs}, nil
}

// sampledSeconds returns the time of exactSamples rankings, extrapolated from as many as there was room for.
func sampledSeconds(row map[string]float64) float64 {
	return row["sampled_seconds"] * exactSamples / row["samples"]
}

func wholePlot(dir string) (figure, error) {
	t, err := readTable(filepath.Join(dir, wholeTimesFile), wholeTimes...)
	if err != nil {
		return figure{}, err
	}
	p := viz.Plot{
		Title: "The gradient of DCG without a cutoff",
		X:     "documents", Y: "seconds on one core", LogX: true, LogY: true,
	}
	curves := []struct {
		name string
		of   func(row map[string]float64) float64
	}{
		{fmt.Sprintf("%d samples (PL-Rank-RB)", exactSamples), sampledSeconds},
		{"exact, sweep", func(row map[string]float64) float64 { return row["sweep_seconds"] }},
		{"exact, product", func(row map[string]float64) float64 { return row["product_seconds"] }},
		{"exact, DCG@10", func(row map[string]float64) float64 { return row["top10_seconds"] }},
	}
	for _, c := range curves {
		s := viz.Series{Name: c.name}
		for i := range t.rows {
			row, err := t.values(i)
			if err != nil {
				return figure{}, err
			}
			s.X, s.Y = append(s.X, row["documents"]), append(s.Y, c.of(row))
		}
		p.Series = append(p.Series, s)
	}
	return figure{"exact-whole", p}, nil
}

// values are the numbers of a row by column, NaN for an empty text.
func (t *csvTable) values(row int) (map[string]float64, error) {
	values := map[string]float64{}
	for i, column := range t.columns {
		text := t.rows[row][i]
		if text == "" {
			values[column] = math.NaN()
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("reproduce: %s: column %s: %w", t.path, column, err)
		}
		values[column] = v
	}
	return values, nil
}
