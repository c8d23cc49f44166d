package fuse

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/plrank/plrank/fusion"
	"github.com/plrank/plrank/internal/textfile"
)

const mostKinds = 8

// setKinds gives queries the kinds of a file: CSV of query and kind, with or without a header. More than [mostKinds] numbers, such as
// lengths, become two kinds, divided at their median. It returns a warning if queries have no kind.
func setKinds(path string, queries []*fusion.Query) (warning string, err error) {
	byID, err := readKinds(path)
	if err != nil {
		return "", err
	}
	var numbers []float64
	for _, q := range queries {
		q.Kind = byID[q.ID]
		if x, err := strconv.ParseFloat(q.Kind, 64); err == nil && x-x == 0 {
			numbers = append(numbers, x)
		}
	}
	kinds := kindsOf(queries)
	if len(kinds) > mostKinds && len(numbers) == len(queries) {
		slices.Sort(numbers)
		median := numbers[(len(numbers)-1)/2]
		for _, q := range queries {
			x, _ := strconv.ParseFloat(q.Kind, 64)
			q.Kind = fmt.Sprintf("%s %g", map[bool]string{true: "≤", false: ">"}[x <= median], median)
		}
		kinds = kindsOf(queries)
	}
	if len(kinds) < 2 || len(kinds) > mostKinds {
		return "", fmt.Errorf("fuse: %s: the judged queries are of %d kinds: want 2 to %d, or numbers, which are divided at their median", path,
			len(kinds), mostKinds)
	}
	without := 0
	for _, q := range queries {
		if q.Kind == "" {
			without++
		}
	}
	if without > 0 {
		warning = fmt.Sprintf("%s lacks %d of the %d judged queries: they are a kind of their own", path, without, len(queries))
	}
	return warning, nil
}

// kindsOf returns the kinds of queries, sorted.
func kindsOf(queries []*fusion.Query) []string {
	kinds := map[string]bool{}
	for _, q := range queries {
		kinds[q.Kind] = true
	}
	return slices.Sorted(maps.Keys(kinds))
}

// readKinds returns the kinds of a file by query.
func readKinds(path string) (map[string]string, error) {
	file, err := textfile.Open(context.Background(), path)
	if err != nil {
		return nil, fmt.Errorf("fuse: %w", textfile.At(path, err))
	}
	defer file.Close()
	rows, byID := csv.NewReader(textfile.WithoutMark(file)), map[string]string{}
	rows.FieldsPerRecord, rows.TrimLeadingSpace = 2, true
	for {
		row, err := rows.Read()
		switch {
		case errors.Is(err, io.EOF):
			return byID, nil
		case err != nil:
			return nil, fmt.Errorf("fuse: %s: %w: want a query and its kind on each line, such as q17,short", path, err)
		}
		line, _ := rows.FieldPos(0)
		if _, twice := byID[row[0]]; twice || row[1] == "" {
			return nil, fmt.Errorf("fuse: %s:%d: query %q, kind %q: want one kind for each query", path, line, row[0], row[1])
		}
		byID[row[0]] = row[1]
	}
}
