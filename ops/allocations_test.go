//go:build !race

package ops_test

import (
	"runtime"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/ops"
)

// The exact ops allocate nothing once they have run. (With the race detector a sync.Pool loses things on purpose.)
func TestExpectedOpsDoNotAllocate(t *testing.T) {
	checkAllocations(t, []float64{1, .6, .5, .4, .3})
	checkAllocations(t, dcg(64)) // at every rank
}

func checkAllocations(t *testing.T, discounts []float64) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b := twentyQueries(discounts)
	g := G.NewGraph()
	l, gains := b.Lists(g, tensor.Float32), optest.Vector(g, "gains", tensor.Float32, b.Gains)
	metric, exposure := G.Must(ops.ExpectedMetric(l, gains, b.Discounts)), G.Must(ops.ExpectedExposure(l, b.Discounts))
	cascade := G.Must(ops.ExpectedCascade(l, l.Scores, gains, b.Discounts))
	precision := G.Must(ops.ExpectedAveragePrecision(l, gains, len(b.Discounts)))
	sum := G.Must(G.Sum(metric))
	for _, n := range []*G.Node{exposure, cascade, precision} {
		sum = G.Must(G.Add(sum, G.Must(G.Sum(n))))
	}
	if _, err := G.Grad(sum, l.Scores); err != nil {
		t.Fatal(err)
	}
	scores, offsets := l.Scores.Value(), l.Offsets.Value()
	inputs := map[string][]G.Value{
		"ops: ExpectedMetric{":           {scores, gains.Value(), offsets},
		"ops: ExpectedCascade{":          {scores, scores, gains.Value(), offsets},
		"ops: ExpectedAveragePrecision{": {scores, gains.Value(), offsets},
		"ops: ExpectedExposure{":         {scores, offsets},
		"ops: ExpectedExposureVJP{":      {scores, gains.Value(), offsets},
	}
	for _, n := range g.AllNodes() {
		for name, values := range inputs {
			if n.Op() == nil || !strings.HasPrefix(n.Op().String(), name) {
				continue
			}
			delete(inputs, name)
			if allocs := testing.AllocsPerRun(10, func() {
				if _, err := n.Op().Do(values...); err != nil {
					t.Fatal(err)
				}
			}); allocs > 0 {
				t.Errorf("%v allocates %v times", n.Op(), allocs)
			}
		}
	}
	if len(inputs) > 0 {
		t.Errorf("no such ops: %v", inputs)
	}
}

// The scratch space of an expectation, about 100 KB here, is not kept for every node: a training has a graph for
// each number of rows.
func TestNodesShareScratchSpace(t *testing.T) {
	const nodes, rows = 50, 300
	heap := func() uint64 {
		runtime.GC()
		runtime.GC() // what pools hold goes at the second one
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	g := G.NewGraph()
	numbers := make([]float64, rows)
	for i := range numbers {
		numbers[i] = float64(i % 5)
	}
	l := ops.Lists{Scores: optest.Vector(g, "scores", tensor.Float64, numbers)}
	for i := range nodes {
		G.Must(ops.ExpectedMetric(l, l.Scores, []float64{2, 1, float64(i)}))
	}
	vm := G.NewTapeMachine(g)
	defer vm.Close()
	before := heap()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	if after := heap(); after > before+nodes*20<<10 {
		t.Errorf("%d nodes hold %d KB after they ran", nodes, (after-before)>>10)
	}
}
