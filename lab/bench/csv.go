package main

import (
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"github.com/plrank/plrank/lab/internal/csvfile"
)

// readCSV reads the rows of a CSV file by the names in its header.
func readCSV(path string) ([]map[string]string, error) {
	columns, lines, err := csvfile.Read(path)
	rows := make([]map[string]string, len(lines))
	for i, line := range lines {
		rows[i] = map[string]string{}
		for c, name := range columns {
			rows[i][name] = line[c]
		}
	}
	return rows, err
}

// eachRow calls take for the rows of a CSV file one by one. Its error names the row.
func eachRow(path string, take func(row map[string]string) error) error {
	rows, err := readCSV(path)
	if err != nil {
		return err
	}
	for i, row := range rows {
		if err := take(row); err != nil {
			return fmt.Errorf("%s: row %d: %w", path, i+1, err)
		}
	}
	return nil
}

// csvText returns rows as a CSV file.
func csvText(rows [][]string) (string, error) {
	var b strings.Builder
	err := csv.NewWriter(&b).WriteAll(rows)
	return b.String(), err
}

// numbers returns columns of a row.
func numbers(row map[string]string, columns ...string) ([]float64, error) {
	var list []float64
	for _, c := range columns {
		v, err := strconv.ParseFloat(row[c], 64)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c, err)
		}
		list = append(list, v)
	}
	return list, nil
}
