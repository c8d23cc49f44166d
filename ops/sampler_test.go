package ops_test

import (
	"fmt"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/ops"
)

// runs gives the value of an int node in consecutive runs of its graph.
func runs(t *testing.T, n *G.Node, times int, before func(run int)) []string {
	t.Helper()
	var value G.Value
	G.Read(n, &value)
	vm := G.NewTapeMachine(n.Graph())
	defer vm.Close()
	var out []string
	for run := range times {
		if before != nil {
			before(run)
		}
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(value.Data()))
		vm.Reset()
	}
	return out
}

func rankingsOf(t *testing.T, s *ops.Sampler) *G.Node {
	t.Helper()
	g := G.NewGraph()
	l := ops.Lists{Scores: optest.Vector(g, "scores", tensor.Float64, make([]float64, 30))}
	n, err := ops.Rankings(l, s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSamplerDrawsAnew(t *testing.T) {
	s := ops.NewSampler(3, 4, 9)
	first := runs(t, rankingsOf(t, s), 3, nil)
	other := runs(t, rankingsOf(t, s), 1, nil) // the same sampler in another graph
	again := runs(t, rankingsOf(t, ops.NewSampler(3, 4, 9)), 3, nil)
	seed := runs(t, rankingsOf(t, ops.NewSampler(3, 4, 10)), 1, nil)
	if first[0] == first[1] || first[1] == first[2] || first[0] == first[2] {
		t.Errorf("runs of a graph repeat rankings: %v", first)
	}
	for _, f := range first {
		if f == other[0] {
			t.Errorf("another graph repeats the rankings of the first: %v", f)
		}
	}
	if fmt.Sprint(first) != fmt.Sprint(again) {
		t.Errorf("the same seed gives %v and %v", first, again)
	}
	if seed[0] == first[0] {
		t.Errorf("another seed gives the same: %v", seed)
	}
}

func TestSetStepRepeatsDraws(t *testing.T) {
	s := ops.NewSampler(3, 4, 9)
	steps := []uint64{5, 6, 5}
	got := runs(t, rankingsOf(t, s), 3, func(run int) { s.SetStep(steps[run]) })
	if got[0] != got[2] || got[0] == got[1] {
		t.Errorf("steps 5, 6, 5 give %v", got)
	}
	// Graphs of other capacity draw the same for the same step: training does not
	// depend on which of its cached graphs a batch goes through.
	s.SetStep(5)
	if same := runs(t, rankingsOf(t, s), 1, nil); same[0] != got[0] {
		t.Errorf("step 5 gives %v in another graph, %v in the first", same, got[0])
	}
}

func TestSetSamplesLeavesOutTheRest(t *testing.T) {
	s := ops.NewSampler(3, 2, 9)
	g := G.NewGraph()
	l := ops.Lists{Scores: optest.Vector(g, "scores", tensor.Float64, make([]float64, 1))}
	n, err := ops.Rankings(l, s)
	if err != nil {
		t.Fatal(err)
	}
	got := runs(t, n, 2, func(run int) {
		if err := s.SetSamples(run + 1); err != nil {
			t.Fatal(err)
		}
	})
	want := []string{"[0 -1 -1 -1 -1 -1]", "[0 -1 0 -1 -1 -1]"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("one document, 1 and 2 samples of 3: %v, want %v", got, want)
	}
}

// Two nodes of one sampler in one graph draw independently, and are not merged;
// which of them runs first does not matter.
func TestNodesOfASamplerDrawIndependently(t *testing.T) {
	var firsts, seconds []string
	for range 2 {
		s := ops.NewSampler(3, 4, 9)
		g := G.NewGraph()
		l := ops.Lists{Scores: optest.Vector(g, "scores", tensor.Float64, make([]float64, 30))}
		first, err := ops.Rankings(l, s)
		if err != nil {
			t.Fatal(err)
		}
		second, err := ops.Rankings(l, s)
		if err != nil {
			t.Fatal(err)
		}
		if first == second {
			t.Fatal("the nodes were merged")
		}
		var a, b G.Value
		G.Read(first, &a)
		G.Read(second, &b)
		vm := G.NewTapeMachine(g)
		for range 2 {
			if err := vm.RunAll(); err != nil {
				t.Fatal(err)
			}
			firsts, seconds = append(firsts, fmt.Sprint(a.Data())), append(seconds, fmt.Sprint(b.Data()))
			vm.Reset()
		}
		vm.Close()
	}
	all := map[string]bool{firsts[0]: true, firsts[1]: true, seconds[0]: true, seconds[1]: true}
	if len(all) != 4 {
		t.Errorf("two nodes and two runs give %d different draws: %v, %v", len(all), firsts[:2], seconds[:2])
	}
	if firsts[0] != firsts[2] || seconds[1] != seconds[3] {
		t.Error("a second graph of the same making draws otherwise")
	}
}

// Samplers of one seed draw independently in one graph, in either order of making; the
// first draws what it would draw alone.
func TestSamplersOfOneSeedDrawIndependently(t *testing.T) {
	alone := runs(t, rankingsOf(t, ops.NewSampler(3, 4, 9)), 2, nil)
	g := G.NewGraph()
	l := ops.Lists{Scores: optest.Vector(g, "scores", tensor.Float64, make([]float64, 30))}
	var first, second G.Value
	G.Read(G.Must(ops.Rankings(l, ops.NewSampler(3, 4, 9))), &first)
	G.Read(G.Must(ops.Rankings(l, ops.NewSampler(3, 4, 9))), &second)
	vm := G.NewTapeMachine(g)
	defer vm.Close()
	for run := range 2 {
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(first.Data()); got != alone[run] {
			t.Errorf("run %d: the first sampler draws %v, alone %v", run, got, alone[run])
		}
		if fmt.Sprint(first.Data()) == fmt.Sprint(second.Data()) {
			t.Errorf("run %d: both samplers draw %v", run, first.Data())
		}
		vm.Reset()
	}
}
