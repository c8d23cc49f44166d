package main

import (
	"path/filepath"
	"slices"
)

// predictionFile is what peers/prediction writes.
const predictionFile = "prediction.csv"

// prediction is a table of the microseconds that libraries take for one query, by the
// number of its documents.
func (r *peerResults) prediction() (string, error) {
	results, err := readCSV(filepath.Join(r.folder, predictionFile))
	if err != nil {
		return "", err
	}
	rows := [][]string{{"documents"}}
	for _, result := range results {
		column := slices.Index(rows[0], result["library"])
		if column < 0 {
			column = len(rows[0])
			rows[0] = append(rows[0], result["library"])
		}
		at := slices.IndexFunc(rows, func(row []string) bool { return row[0] == result["documents"] })
		if at < 0 {
			at = len(rows)
			rows = append(rows, []string{result["documents"]})
		}
		for len(rows[at]) <= column {
			rows[at] = append(rows[at], absent)
		}
		rows[at][column] = result["microseconds"] + " µs"
	}
	return markdownTable(rows), nil
}
