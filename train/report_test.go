package train

import (
	"slices"
	"testing"
)

// A sample has queries from all over large data, and small data are taken whole.
func TestSampleOf(t *testing.T) {
	d := small().Train
	size := 4 * len(d.Features)
	if sampleOf(d, size) != d {
		t.Error("data that are small enough are copied")
	}
	s := sampleOf(d, size/3)
	var want []string
	for i := range d.Queries() / 3 {
		want = append(want, d.QueryIDs[i*d.Queries()/(d.Queries()/3)])
	}
	if !slices.Equal(s.QueryIDs, want) {
		t.Errorf("queries %v, want %v", s.QueryIDs, want)
	}
	if sampleOf(d, 1).Queries() != 1 {
		t.Error("no query is left")
	}
}
