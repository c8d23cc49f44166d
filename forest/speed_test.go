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

// treesOf64 returns trees of depth 6, of 64 leaves, on 136 features in 64 bins.
func treesOf64(trees int, symmetric bool) (f *Forest, random *rand.Rand) {
	random = rand.New(rand.NewPCG(1, 2))
	f = &Forest{Inputs: 136}
	for range trees {
		var t Tree
		for len(t.Nodes) < 63 {
			node := Node{Column: random.IntN(f.Inputs), Threshold: float64(random.IntN(63)+1) / 64}
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
	return f, random
}

// BenchmarkScore scores documents by 200 trees, of which the levels of symmetric ones have one split each.
func BenchmarkScore(b *testing.B) {
	for _, symmetric := range []bool{true, false} {
		f, random := treesOf64(200, symmetric)
		s := f.Compile()
		for _, n := range []int{1, 2, 4, 8, 16, 64, 100} {
			rows, scores := make([]float32, n*f.Inputs), make([]float64, n)
			for i := range rows {
				rows[i] = random.Float32()
			}
			b.Run(fmt.Sprintf("symmetric=%v/documents=%d", symmetric, n), func(b *testing.B) {
				for b.Loop() {
					s.Score(scores, rows)
				}
			})
		}
	}
}

// BenchmarkShares divides the difference of two documents.
func BenchmarkShares(b *testing.B) {
	f, random := treesOf64(200, false)
	rows, players := make([]float32, 2*f.Inputs), make([]int, f.Inputs)
	for i := range rows {
		rows[i] = random.Float32()
	}
	for i := range players {
		players[i] = i
	}
	for _, pairs := range []map[[2]int]float64{nil, {}} {
		b.Run(fmt.Sprintf("interactions=%v", pairs != nil), func(b *testing.B) {
			s := Shares{Values: make([]float64, f.Inputs), Pairs: pairs}
			for b.Loop() {
				s.Add(f, rows[:f.Inputs], rows[f.Inputs:], players, 1)
			}
		})
	}
}
