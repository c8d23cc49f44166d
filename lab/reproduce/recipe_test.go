package main

import (
	"fmt"
	"strings"
	"testing"
)

const recipeFolder = "../recipe/"

// What the tables of the recipe for large data have of NDCG@10 is in the file of its trials.
func TestRecipeOfLargeData(t *testing.T) {
	trials, err := readTable(recipeFolder+"large.csv", "vali ndcg@10", "vali expected-ndcg@10")
	if err != nil {
		t.Fatal(err)
	}
	measured := map[string]bool{}
	for _, column := range []string{"vali ndcg@10", "vali expected-ndcg@10"} {
		values, err := trials.floats(column)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			measured[strings.TrimPrefix(fmt.Sprintf("%.4f", v), "0")] = true
		}
	}
	for _, file := range []string{"large-losses.csv", "large-trials.csv", "large-softmax.csv", "large-sizes.csv"} {
		table, err := readTable(recipeFolder + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range table.rows {
			for _, cell := range row {
				if value, _, _ := strings.Cut(cell, " "); len(value) == len(".1234") && value[0] == '.' && !measured[value] {
					t.Errorf("%s: %s: no trial has %s", file, strings.Join(row, ","), value)
				}
			}
		}
	}
}
