package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/plrank/plrank/viz"
)

var (
	ratioTitle = fmt.Sprintf(
		"K = %d, N = %d: trace of the covariance divided by %s's",
		varianceCutoff,
		varianceSamples,
		methodOf(reference).label,
	)
	biasTitle = fmt.Sprintf("K = %d, N = %d: squared bias divided by the squared gradient", varianceCutoff, varianceSamples)
)

// A methodColumn is what all methods were measured on, and the rows of them.
type methodColumn struct {
	title string
	rows  *csvTable
}

// normalMethods are the columns of normal scores.
func normalMethods(t *csvTable) []methodColumn {
	t = t.where("cutoff", strconv.Itoa(varianceCutoff)).where("samples", strconv.Itoa(varianceSamples))
	var columns []methodColumn
	for _, d := range t.distinct("documents") {
		of := t.where("documents", d)
		for _, sd := range of.distinct("sd") {
			columns = append(columns, methodColumn{fmt.Sprintf("D %s, sd %s", d, sd), of.where("sd", sd)})
		}
	}
	return columns
}

// stageMethods are the columns of a network in training.
func stageMethods(t *csvTable) []methodColumn {
	var columns []methodColumn
	for _, stage := range t.distinct("stage") {
		columns = append(columns, methodColumn{stage, t.where("stage", stage)})
	}
	return columns
}

// methodsTable compares all methods, a row each.
func methodsTable(columns []methodColumn, title string, text func(*csvTable) (string, error)) (viz.Table, error) {
	table := viz.Table{Title: title, Columns: []string{"method"}}
	var names []string
	for _, c := range columns {
		table.Columns = append(table.Columns, c.title)
		for _, name := range c.rows.distinct("estimator") {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		var texts []string
		for _, c := range columns {
			text, err := text(c.rows.where("estimator", name))
			if err != nil {
				return table, err
			}
			texts = append(texts, text)
		}
		table.Rows = append(table.Rows, textRow(texts, varianceMethod(name).label))
	}
	return table, nil
}

func ratioOfRow(row *csvTable) (string, error) { return oneText(row, "ratio", "ratio_se") }
func biasOfRow(row *csvTable) (string, error)  { return oneText(row, "bias", "bias_se") }

// oneText is a value of a table of one row with its standard error.
func oneText(row *csvTable, value, stdErr string) (string, error) {
	texts, err := withErrors(row, value, stdErr)
	if err != nil || len(texts) != 1 {
		return "", err
	}
	return texts[0], nil
}
