package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plrank/plrank/plackett"
	"github.com/plrank/plrank/viz"
)

// The CSV files of subcommand variance.
const (
	varianceFile = "variance.csv"
	normalFile   = "variance-normal.csv"
)

var varianceChapter = chapter{
	name:  "variance",
	title: "Variance of the gradients",
	csv:   varianceFile,
	reading: fmt.Sprintf(
		"The trace of the covariance of λ, the gradient of DCG@K with respect to the scores of a query: the mean over at most %d training queries. N is %d and K is %d unless the table says otherwise. "+
			"sd is the standard deviation of the scores. Brackets are standard errors of sampling rankings for these queries. "+
			"The bias is ‖E λ − dR/dm‖²/‖dR/dm‖², against the exact gradient. "+
			"Half-trained and trained are the best weights for the validation split of the first half of the epochs and of all.",
		varianceQueries,
		varianceSamples,
		varianceCutoff,
	),
	tables: varianceTables,
	plots:  variancePlots,
}

// A varianceResult is the CSV files; there are none of normal scores for real data, and
// of training for a model file: nil.
type varianceResult struct{ measured, normal, training *csvTable }

func readVariance(dir string) (r varianceResult, err error) {
	if r.measured, err = readTable(filepath.Join(dir, varianceFile), append(slices.Clone(varianceColumns), spreadColumns...)...); err != nil {
		return r, err
	}
	optional := func(name string, columns ...string) *csvTable {
		t, missing := readTable(filepath.Join(dir, name), columns...)
		if missing != nil && !errors.Is(missing, fs.ErrNotExist) {
			err = missing
		}
		return t
	}
	r.normal = optional(normalFile, append(slices.Clone(normalColumns), spreadColumns...)...)
	r.training = optional(trainingFile, trainingColumns...)
	return r, err
}

func varianceTables(dir string) ([]viz.Table, error) {
	r, err := readVariance(dir)
	if err != nil {
		return nil, err
	}
	var tables []viz.Table
	add := func(table viz.Table, problem error) {
		tables, err = append(tables, table), errors.Join(err, problem)
	}
	if r.normal != nil {
		add(normalRatios(r.normal))
		add(normalSpread(r.normal))
		add(methodsTable(normalMethods(r.normal), "Normal scores, "+ratioTitle, ratioOfRow))
		add(methodsTable(normalMethods(r.normal), "Normal scores, "+biasTitle, biasOfRow))
	}
	if compared := r.measured.where("axis", methodsAxis); len(compared.rows) > 0 {
		name := compared.texts("data")[0]
		add(methodsTable(stageMethods(compared), name+", "+ratioTitle, ratioOfRow))
		add(methodsTable(stageMethods(compared), name+", "+biasTitle, biasOfRow))
	}
	if r.training != nil {
		add(trainingTraces(r.training))
		add(trainingNoise(r.training))
	}
	for _, a := range varianceAxes {
		if rows := r.measured.where("axis", a.name); len(rows.rows) > 0 {
			add(axisTraces(rows, a))
			add(axisRatios(rows, a))
		}
	}
	return tables, err
}

// axisTraces are the traces of PL-Rank-2 against what is varied on an axis.
func axisTraces(t *csvTable, a axis) (viz.Table, error) {
	table := axisTable(t, a, "trace of the covariance of "+varianceMethod(reference).label)
	for _, stage := range t.distinct("stage") {
		rows := t.where("stage", stage)
		texts, err := withErrors(rows.where("estimator", reference), "trace", "trace_se")
		if err != nil {
			return table, err
		}
		name, err := stageName(rows)
		if err != nil {
			return table, err
		}
		table.Rows = append(table.Rows, textRow(texts, name))
	}
	return table, nil
}

// axisRatios are the traces of the other estimators divided by that.
func axisRatios(t *csvTable, a axis) (viz.Table, error) {
	table := axisTable(t, a, "trace of the covariance divided by "+varianceMethod(reference).label+"'s")
	table.Columns = slices.Insert(table.Columns, 1, "")
	for _, stage := range t.distinct("stage") {
		rows := t.where("stage", stage)
		name, err := stageName(rows)
		if err != nil {
			return table, err
		}
		for _, estimator := range rows.distinct("estimator") {
			if estimator == reference {
				continue
			}
			texts, err := withErrors(rows.where("estimator", estimator), "ratio", "ratio_se")
			if err != nil {
				return table, err
			}
			table.Rows = append(table.Rows, textRow(texts, name, varianceMethod(estimator).label))
		}
	}
	return table, nil
}

func axisTable(t *csvTable, a axis, what string) viz.Table {
	table := viz.Table{
		Title:   fmt.Sprintf("%s: %s, against the %s, %s queries", t.texts("data")[0], what, a.label, t.texts("queries")[0]),
		Columns: []string{"scores"},
	}
	for _, v := range t.distinct("value") {
		table.Columns = append(table.Columns, a.label[len(a.name)+1:]+" = "+v)
	}
	return table
}

// stageName is the name of the stage that rows are of, and how far its scores spread.
func stageName(rows *csvTable) (string, error) {
	sd, err := rows.floats("sd")
	return fmt.Sprintf("%s, sd %.2g", rows.texts("stage")[0], meanOf(sd)), err
}

// textRow is a row that begins with titles.
func textRow(texts []string, titles ...any) viz.Row {
	row := viz.Row(titles)
	for _, text := range texts {
		row = append(row, text)
	}
	return row
}

func meanOf(values []float64) float64 {
	mean, _ := meanSD(values)
	return mean
}

// withErrors are the values of a column with their standard errors.
func withErrors(t *csvTable, value, stdErr string) ([]string, error) {
	columns, err := t.numbers(value, stdErr)
	if err != nil {
		return nil, err
	}
	var texts []string
	for i, v := range columns[0] {
		texts = append(texts, withError(v, columns[1][i]))
	}
	return texts, nil
}

// withError is a value with its standard error in brackets: of that one significant
// digit, or two if the first is 1, and of the value as many decimals.
func withError(v, stdErr float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case v == 0 || stdErr == 0 || math.IsNaN(stdErr):
		return short(v)
	}
	exponent := math.Floor(math.Log10(stdErr))
	if stdErr < 2*math.Pow(10, exponent) {
		exponent--
	}
	decimals := max(0, -int(exponent))
	return fmt.Sprintf("%.*f (%.*f)", decimals, v, decimals, stdErr)
}

// normalRatios returns the table of docs/pl-rank-rb.md: PL-Rank-RB compared with PL-Rank-2.
func normalRatios(t *csvTable) (viz.Table, error) {
	return normalTable(
		t,
		"Normal scores: trace of PL-Rank-RB divided by PL-Rank-2's, means over %s lists",
		func(rows *csvTable) ([]string, error) {
			return withErrors(rows, "ratio", "ratio_se")
		},
	)
}

// normalSpread is how much lists differ in that.
func normalSpread(t *csvTable) (viz.Table, error) {
	return normalTable(
		t,
		"The same ratio list by list: median, and in brackets the quantiles of 10 %% and 90 %% of %s lists",
		func(rows *csvTable) ([]string, error) {
			columns, err := rows.numbers("ratio_p50", "ratio_p10", "ratio_p90")
			if err != nil {
				return nil, err
			}
			var texts []string
			for i := range rows.rows {
				texts = append(texts, fmt.Sprintf("%s (%s–%s)", brief(columns[0][i]), brief(columns[1][i]), brief(columns[2][i])))
			}
			return texts, nil
		},
	)
}

// brief is a number with two significant digits.
func brief(v float64) string {
	decimals := 1
	if v > 0 {
		decimals = max(0, 1-int(math.Floor(math.Log10(v))))
	}
	return fmt.Sprintf("%.*f", decimals, v)
}

// normalTable is a table of PL-Rank-RB on normal scores, a row for each D, K and N.
func normalTable(t *csvTable, title string, texts func(*csvTable) ([]string, error)) (viz.Table, error) {
	t = t.where("estimator", plackett.PLRankRB.String())
	table := viz.Table{Title: fmt.Sprintf(title, t.texts("lists")[0]), Columns: []string{"D", "K", "N"}}
	for _, sd := range t.distinct("sd") {
		table.Columns = append(table.Columns, "sd "+sd)
	}
	for _, shape := range normalRows(t) {
		entries, err := texts(shape)
		if err != nil {
			return table, err
		}
		row := viz.Row{shape.texts("documents")[0], shape.texts("cutoff")[0], shape.texts("samples")[0]}
		for _, text := range entries {
			row = append(row, text)
		}
		table.Rows = append(table.Rows, row)
	}
	return table, nil
}

// normalRows is the rows of each D, K and N.
func normalRows(t *csvTable) []*csvTable {
	var shapes []*csvTable
	for _, d := range t.distinct("documents") {
		for _, k := range t.where("documents", d).distinct("cutoff") {
			of := t.where("documents", d).where("cutoff", k)
			for _, n := range of.distinct("samples") {
				shapes = append(shapes, of.where("samples", n))
			}
		}
	}
	return shapes
}

func variancePlots(dir string) ([]figure, error) {
	r, err := readVariance(dir)
	if err != nil {
		return nil, err
	}
	t := r.measured
	var figures []figure
	for _, a := range varianceAxes {
		for _, stage := range t.distinct("stage") {
			rows := t.where("axis", a.name).where("stage", stage)
			if len(rows.rows) == 0 {
				continue
			}
			p := viz.Plot{
				Title: fmt.Sprintf("Variance of the gradient, %s, %s", rows.texts("data")[0], stage),
				X:     a.label, Y: "trace of the covariance", LogX: true, LogY: true,
			}
			for _, estimator := range rows.distinct("estimator") {
				s, err := spreadSeries(rows.where("estimator", estimator), "value", "trace", "trace_se")
				if err != nil {
					return nil, err
				}
				m := varianceMethod(estimator)
				s.Name, s.Color = m.label, m.color
				p.Series = append(p.Series, s)
			}
			figures = append(figures, figure{strings.Join([]string{"variance", a.name, stage}, "-"), p})
		}
	}
	if r.training != nil {
		p, err := trainingPlot(r.training)
		if err != nil {
			return nil, err
		}
		figures = append(figures, p)
	}
	if r.normal == nil {
		return figures, nil
	}
	p := viz.Plot{
		Title: "PL-Rank-RB on normal scores", X: "standard deviation of the scores", Y: "trace relative to PL-Rank-2", LogX: true, LogY: true,
	}
	for _, rows := range normalRows(r.normal.where("estimator", plackett.PLRankRB.String())) {
		s, err := spreadSeries(rows, "sd", "ratio", "ratio_se")
		if err != nil {
			return nil, err
		}
		s.Name = fmt.Sprintf("D %s, K %s, N %s", rows.texts("documents")[0], rows.texts("cutoff")[0], rows.texts("samples")[0])
		p.Series = append(p.Series, s)
	}
	return append(figures, figure{"variance-normal", p}), nil
}

// spreadSeries is a series with a band of two standard errors to either side, at most
// down to half of the value: the axis is logarithmic.
func spreadSeries(t *csvTable, x, y, stdErr string) (s viz.Series, err error) {
	s.Style = viz.LinePoints
	columns, err := t.numbers(x, y, stdErr)
	if err != nil {
		return s, err
	}
	s.X, s.Y = columns[0], columns[1]
	for i, e := range columns[2] {
		s.Low = append(s.Low, max(s.Y[i]-2*e, s.Y[i]/2))
		s.High = append(s.High, s.Y[i]+2*e)
	}
	return s, nil
}

// varianceMethod returns the method of an estimator, which is named like a loss.
// PL-Rank-1 stands for the placement policy gradient as well.
func varianceMethod(estimator string) method {
	m := methodOf(estimator)
	if estimator == plackett.PLRank1.String() {
		m.label = "PL-Rank-1, Placement P.G."
	}
	return m
}
