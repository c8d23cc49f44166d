//go:build unix

package ops

import (
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/forward"
)

// BenchmarkPiecewiseLinear is a first layer of 136 features of 16 bins and 256 units compared with a dense one
// of 136 inputs, with ReLU, in batches of 4,096 documents, forward and backward, and the same where half of
// the features have two values, and one bin. Each is measured in turn, in processor time, and the shortest runs
// are compared, which other programs disturb least. With GOMAXPROCS=1 it is for one core.
func BenchmarkPiecewiseLinear(b *testing.B) {
	const features = 136
	for _, c := range []struct {
		name string
		bins []int
	}{
		{"bins=16", slices.Repeat([]int{16}, features)},
		{"bins=16,1", slices.Repeat([]int{16, 1}, features/2)},
	} {
		b.Run(c.name, func(b *testing.B) {
			layers := [2]G.VM{
				layerOf(b, features, features, 1, Dense),
				layerOf(b, features, forward.BinRows(c.bins, features), 16, func(x, w, b *G.Node, act Activation) (*G.Node, error) {
					return PiecewiseLinear(x, w, b, c.bins, act)
				}),
			}
			best := [2]time.Duration{time.Hour, time.Hour}
			for b.Loop() {
				for i, vm := range layers {
					start := processorTime(b)
					vm.Reset()
					if err := vm.RunAll(); err != nil {
						b.Fatal(err)
					}
					best[i] = min(best[i], processorTime(b)-start)
				}
			}
			b.ReportMetric(float64(best[0].Nanoseconds()), "dense-ns")
			b.ReportMetric(float64(best[1].Nanoseconds()), "piecewise-ns")
			b.ReportMetric(float64(best[1])/float64(best[0]), "ratio")
		})
	}
}

// layerOf runs a layer of 256 units, with that number of rows of weights, and its gradients on 4,096 documents
// with features up to most.
func layerOf(b *testing.B, features, weights int, most float32, layer layerFunc) G.VM {
	const rows, units = 4096, 256
	g, r := G.NewGraph(), rand.New(rand.NewPCG(1, 2))
	node := func(name string, scale float32, shape ...int) *G.Node {
		v := make([]float32, tensor.Shape(shape).TotalSize())
		for i := range v {
			v[i] = scale * r.Float32()
		}
		return G.NewTensor(g, tensor.Float32, len(shape), G.WithShape(shape...), G.WithName(name), G.WithValue(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(v))))
	}
	x, w, bias := node("x", most, rows, features), node("w", 1, weights, units), node("b", 1, units)
	grads, err := G.Grad(G.Must(G.Sum(G.Must(layer(x, w, bias, ReLU)))), w, bias)
	if err != nil {
		b.Fatal(err)
	}
	program, places, err := G.CompileFunction(g, G.Nodes{x}, grads)
	if err != nil {
		b.Fatal(err)
	}
	return G.NewTapeMachine(g, G.WithPrecompiled(program, places))
}

// processorTime returns the processor time of this process until now.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
