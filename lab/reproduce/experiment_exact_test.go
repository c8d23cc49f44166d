package main

import (
	"slices"
	"testing"

	"github.com/plrank/plrank/lab/internal/variance"
)

func TestExactErrorsAreWithinTheTolerance(t *testing.T) {
	table := newTable(exactColumns...)
	if err := addErrors(table, variance.Normal(3, 12, 2, 1), 5, 2); err != nil {
		t.Fatal(err)
	}
	tolerances, err := table.floats("tolerance")
	if err != nil || !slices.Equal(tolerances, exactTolerances) {
		t.Fatal(tolerances, err)
	}
	for _, column := range []string{"lambda_error", "exposure_error"} {
		errors, err := table.floats(column)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range errors {
			if !(e > 0 && e <= tolerances[i]) {
				t.Errorf("%s is %v at the tolerance %v", column, e, tolerances[i])
			}
		}
	}
}

func TestExactCost(t *testing.T) {
	table := newTable(costColumns...)
	if err := addCost(table, variance.Normal(1, 12, 1, 1)[0], 3, 1, 1); err != nil {
		t.Fatal(err)
	}
	for _, column := range []string{"nodes", "exact_seconds", "sampled_seconds"} {
		if values, err := table.floats(column); err != nil || !(values[0] > 0) {
			t.Errorf("%s: %v, %v", column, values, err)
		}
	}
}

func TestWholeListErrorsAreWithinTheTolerance(t *testing.T) {
	table := newTable(wholeColumns...)
	if err := addWholeErrors(table, variance.Normal(1, 40, 2, 1)[0]); err != nil {
		t.Fatal(err)
	}
	for i := range table.rows {
		row, err := table.values(i)
		if err != nil {
			t.Fatal(err)
		}
		// Two methods agree to the sum of their tolerances.
		for _, column := range []string{"lambda_error", "exposure_error"} {
			if !(row["terms"] > 0 && row[column] <= row["tolerance"]+exactTruth) {
				t.Errorf("%s is %v with %v terms at the tolerance %v", column, row[column], row["terms"], row["tolerance"])
			}
		}
	}
}

func TestWholeListTimes(t *testing.T) {
	table := newTable(wholeTimes...)
	if err := addWholeTimes(t.Context(), table, variance.Normal(1, 40, 1, 1)[0], 1); err != nil {
		t.Fatal(err)
	}
	row, err := table.values(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, column := range []string{"product_seconds", "top10_seconds", "sweep_seconds", "sampled_seconds"} {
		if !(row[column] > 0) {
			t.Errorf("%s: %v", column, row[column])
		}
	}
}

// The weights of document 1 fall with the score of the other, LambdaRank's do not.
func TestPairWeightsFallWithTheOtherScore(t *testing.T) {
	table, err := pairTable()
	if err != nil {
		t.Fatal(err)
	}
	rows := table.where("sd", "1").where("document", "1")
	for column, falling := range map[string]bool{"weight": true, "lambdarank": false} {
		values, err := rows.floats(column)
		if err != nil {
			t.Fatal(err)
		}
		values = values[1:] // a document is no pair with itself
		slices.Reverse(values)
		if slices.Min(values) <= 0 || slices.IsSorted(values) != falling {
			t.Errorf("%s: %v", column, values)
		}
	}
}

func TestRounded(t *testing.T) {
	for v, want := range map[float64]string{8.13: "8.1", 0.0456: "0.046", 1234: "1200", 99.6: "100", 12: "12"} {
		if got := rounded(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}
