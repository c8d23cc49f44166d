package forest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// BenchmarkGrow grows trees of depth 6 on a tenth of 2.2 million documents of 136 features in 64 and 255 bins.
func BenchmarkGrow(b *testing.B) {
	const n, width = 220_000, 136
	rows := make([]float32, n*width)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range rows {
		rows[i] = random.Float32()
	}
	gradient, curvature, scores := make([]float32, n), make([]float32, n), make([]float64, n)
	for i := range gradient {
		x := rows[i*width:]
		gradient[i] = x[0] + x[1]*x[2] + float32(math.Sin(float64(6*x[3]))) + float32(random.NormFloat64())
		curvature[i] = 1
	}
	for _, bins := range []int{64, MaxBins} {
		b.Run(fmt.Sprint(bins), func(b *testing.B) {
			binned, err := Bin(rows, width, nil, bins)
			if err != nil {
				b.Fatal(err)
			}
			g, err := NewGrower(binned, Config{})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := g.Grow(gradient, curvature, scores); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkScore scores 100 documents of 136 features by 1,000 symmetric trees of depth 6 in 64 bins, and by trees of 64
// leaves.
func BenchmarkScore(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	const n, width = 100, 136
	rows := make([]float32, n*width)
	for i := range rows {
		rows[i] = random.Float32()
	}
	for _, symmetric := range []bool{true, false} {
		f := Forest{Inputs: width}
		for range 1000 {
			var t Tree
			for len(t.Nodes) < 63 {
				node := Node{Column: random.IntN(width), Threshold: float64(random.IntN(63)+1) / 64}
				k := 1
				if symmetric {
					k = len(t.Nodes) + 1
				}
				t.Nodes = append(t.Nodes, slices.Repeat([]Node{node}, k)...)
			}
			t.link()
			for range 64 {
				t.Leaves = append(t.Leaves, random.NormFloat64())
			}
			f.Trees = append(f.Trees, t)
		}
		s, scores := f.Compile(), make([]float64, n)
		b.Run(fmt.Sprintf("symmetric=%v", symmetric), func(b *testing.B) {
			for b.Loop() {
				s.Score(scores, rows)
			}
		})
	}
}
