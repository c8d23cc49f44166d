package graph

import (
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/nn"
)

// A cache keeps a bounded number of graphs.
func TestGraphsAreBounded(t *testing.T) {
	closed := 0
	g := Cache[fakeGraph]{}
	for rows := range 1000 {
		if _, err := g.Get(Size{Rows: rows}, func() (fakeGraph, error) { return func() { closed++ }, nil }); err != nil || len(g.by) > mostGraphs {
			t.Fatal(len(g.by), err)
		}
	}
	if closed+len(g.by) != 1000 {
		t.Errorf("%d graphs closed, %d kept", closed, len(g.by))
	}
}

type fakeGraph func()

func (f fakeGraph) Graph() *G.ExprGraph { return G.NewGraph() }
func (f fakeGraph) Close() error        { f(); return nil }

// Graphs compute the same by themselves and in common memory, which is as large as the largest until then needs.
func TestGraphsOfACacheShareMemory(t *testing.T) {
	const features = 3
	model, err := nn.NewMLP(nn.MLPConfig{Features: features, Hidden: []int{32}, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var together Cache[*Scores]
	defer together.Close()
	var memory *float32
	largest := 0
	for _, rows := range []int{16, 8, 64, 16, 8, 64, 16} {
		build := func() (*Scores, error) { return NewScores(model, Size{Rows: rows}, features) }
		b := &datasets.Batch{X: make([]float32, rows*features), Offsets: make([]int, rows+1)}
		for i := range b.X {
			b.X[i] = float32(i%7) - 3
		}
		for i := range rows {
			b.Offsets[1+i] = rows
		}
		alone, err := build()
		if err != nil {
			t.Fatal(err)
		}
		defer alone.Close()
		shared, err := together.Get(Size{Rows: rows}, build)
		if err != nil {
			t.Fatal(err)
		}
		want, err := alone.Score(b)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := shared.Score(b); err != nil || !slices.Equal(got, want) {
			t.Errorf("%d rows: %v, want %v, error %v", rows, got, want, err)
		}
		at := &shared.scores.Value().Data().([]float32)[0]
		if rows > largest {
			memory, largest = at, rows
		}
		if at != memory {
			t.Errorf("%d rows have memory of their own", rows)
		}
	}
}
