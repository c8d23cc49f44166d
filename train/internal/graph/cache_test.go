package graph

import "testing"

// A cache keeps a bounded number of graphs.
func TestGraphsAreBounded(t *testing.T) {
	closed := 0
	g := Cache[fakeGraph]{}
	for rows := range 1000 {
		if _, err := g.Get(rows, func() (fakeGraph, error) { return func() { closed++ }, nil }); err != nil || len(g) > mostGraphs {
			t.Fatal(len(g), err)
		}
	}
	if closed+len(g) != 1000 {
		t.Errorf("%d graphs closed, %d kept", closed, len(g))
	}
}

type fakeGraph func()

func (f fakeGraph) Close() error { f(); return nil }
