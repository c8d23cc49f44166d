package transforms_test

import (
	"math"
	"testing"

	"github.com/plrank/plrank/datasets"
)

// Quantiles of many columns, for which no tables are made, are the same as of a few.
func TestQuantilesOfVeryManyColumns(t *testing.T) {
	const columns, period = 4097, 7
	columnsOf := func(width int) *datasets.Dataset {
		d := &datasets.Dataset{Name: "wide", Offsets: []int{0, 3}, QueryIDs: []string{"q"}, Labels: make([]float32, 3)}
		for c := range width {
			d.FeatureIDs = append(d.FeatureIDs, c)
		}
		for r := range 3 {
			for c := range width {
				d.Features = append(d.Features, float32(r*(c%period+1)))
			}
		}
		return d
	}
	transformed := func(d *datasets.Dataset) []float32 {
		tr, err := datasets.FitTransform("quantile", d)
		if err != nil {
			t.Fatal(err)
		}
		rows := make([]float32, len(d.Features))
		tr.Query(rows, d.Features)
		return rows
	}
	wide, narrow := transformed(columnsOf(columns)), transformed(columnsOf(period))
	for i, got := range wide {
		r, c := i/columns, i%columns
		if want := narrow[r*period+c%period]; got != want || math.IsNaN(float64(got)) {
			t.Fatalf("row %d, column %d: %v, want %v", r, c, got, want)
		}
	}
}
