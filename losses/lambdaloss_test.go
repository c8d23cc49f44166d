package losses_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/ops"
)

// lambdaLoss is the loss of one query from its definition, over all pairs.
func lambdaLoss(scores, gains, discounts []float64, noise [][]float64) float64 {
	theta := func(k int) float64 { // ranks from 1
		if k <= len(discounts) {
			return discounts[k-1]
		}
		return 0
	}
	sum := 0.0
	for _, z := range noise {
		hat := make([]float64, len(scores))
		rank := make([]int, len(scores))
		for d := range scores {
			hat[d] = scores[d] + z[d]
		}
		for i := range hat {
			for j := range hat {
				if hat[j] > hat[i] || hat[j] == hat[i] && j < i {
					rank[i]++
				}
			}
		}
		for i := range hat {
			for j := range hat {
				if gains[i] > gains[j] {
					delta := rank[i] - rank[j]
					if delta < 0 {
						delta = -delta
					}
					sum += (theta(delta) - theta(delta+1)) * (gains[i] - gains[j]) * math.Log2(1+math.Exp(hat[j]-hat[i]))
				}
			}
		}
	}
	return sum / float64(len(noise))
}

// A packed batch with an empty query, a query of one document, padding, and a
// sample that is absent, against the definition and by finite differences.
func TestLambdaLossHasItsDefinition(t *testing.T) {
	offsets := []int{0, 7, 7, 8, 19}
	const rows, samples = 21, 3
	rng := rand.New(rand.NewPCG(2, 2))
	scores, gains := make([]float64, rows), make([]float64, rows)
	for d := range scores {
		scores[d] = rng.NormFloat64()
		gains[d] = float64(rng.IntN(4))
	}
	noise := make([]float64, (samples+1)*rows)
	for i := range noise {
		noise[i] = 3 * rng.NormFloat64()
		if i >= samples*rows {
			noise[i] = math.NaN() // absent
		}
	}
	discounts := []float64{1, .63, .5, .43}
	graph := func() (loss, s *G.Node) {
		g := G.NewGraph()
		l := ops.Lists{Scores: vector(g, "scores", tensor.Float64, scores), Offsets: ints(g, "offsets", offsets, len(offsets))}
		loss, err := losses.Mean(losses.LambdaLoss, losses.Batch{
			Lists: l, Gains: vector(g, "gains", tensor.Float64, gains), Noise: vector(g, "noise", tensor.Float64, noise), Discounts: discounts,
		})
		if err != nil {
			t.Fatal(err)
		}
		return loss, l.Scores
	}
	definition := func() float64 {
		sum := 0.0
		for q := range len(offsets) - 1 {
			from, to := offsets[q], offsets[q+1]
			var z [][]float64
			for i := range samples {
				z = append(z, noise[i*rows+from:i*rows+to])
			}
			sum += lambdaLoss(scores[from:to], gains[from:to], discounts, z)
		}
		return sum / 3 // queries with documents
	}
	loss, s := graph()
	value, gradient := differentiate(t, loss, s)
	if want := definition(); math.Abs(value-want) > 1e-12*want {
		t.Errorf("loss %v, the definition gives %v", value, want)
	}
	loss, s = graph()
	other := lispGradient(t, loss, s)
	for d := range scores {
		const h = 1e-6 // no rank changes within that
		m := scores[d]
		scores[d] = m + h
		up := definition()
		scores[d] = m - h
		down := definition()
		scores[d] = m
		if want := (up - down) / (2 * h); math.Abs(gradient[d]-want) > 1e-7 || math.Abs(gradient[d]-other[d]) > 1e-12 {
			t.Errorf("gradient[%d] = %v by tape, %v by Lisp, %v by differences", d, gradient[d], other[d], want)
		}
	}
}

// The loss without noise, of one query, is the same in Gorgonia's own ops, with matrices of all pairs.
func TestLambdaLossDeterministicIsThatOfGorgoniasOps(t *testing.T) {
	scores, gains, discounts := []float64{.3, -1.2, 2, .7, .1}, []float64{3, 0, 1, 0, 7}, []float64{1, .63, .5}
	n := len(scores)
	ranks := []int{2, 4, 0, 1, 3} // of the scores
	weights := make([]float64, n*n)
	for i := range n {
		for j := range n {
			// By the definition, (θ_δ − θ_{δ+1}) (ρ_i − ρ_j) where ρ_i > ρ_j; θ_4 and θ_5 are 0.
			theta := append([]float64{0}, append(discounts, 0, 0, 0)...)
			delta := max(ranks[i]-ranks[j], ranks[j]-ranks[i])
			weights[i*n+j] = (theta[delta] - theta[delta+1]) * max(0, gains[i]-gains[j])
		}
	}
	g := G.NewGraph()
	own := vector(g, "own", tensor.Float64, scores)
	loss, err := meanOf("lambdaloss-deterministic", losses.Batch{
		Lists: ops.Lists{Scores: own}, Gains: vector(g, "gains", tensor.Float64, gains), Discounts: discounts,
	})
	if err != nil {
		t.Fatal(err)
	}
	value, gradient := differentiate(t, loss, own)

	g = G.NewGraph()
	m := vector(g, "m", tensor.Float64, scores)
	column := G.Must(G.Reshape(G.Must(G.Mul(m, G.NewConstant(1.))), tensor.Shape{n, 1}))
	row := G.Must(G.Reshape(G.Must(G.Mul(m, G.NewConstant(1.))), tensor.Shape{1, n}))
	ones := func(rows, columns int) *G.Node {
		return G.NewConstant(tensor.New(tensor.WithShape(rows, columns), tensor.WithBacking(slices.Repeat([]float64{1}, n))))
	}
	gaps := G.Must(G.Sub(G.Must(G.Mul(ones(n, 1), row)), G.Must(G.Mul(column, ones(1, n))))) // m_j − m_i
	w := G.NewConstant(tensor.New(tensor.WithShape(n, n), tensor.WithBacking(weights)))
	sum := G.Must(G.Sum(G.Must(G.HadamardProd(w, G.Must(G.Softplus(gaps))))))
	want, slopes := differentiate(t, G.Must(G.Mul(sum, G.NewConstant(1/math.Ln2))), m)
	if math.Abs(value-want) > 1e-12 || !floats.EqualApprox(gradient, slopes, 1e-12) {
		t.Errorf("loss %v and gradient %v, by Gorgonia's ops %v and %v", value, gradient, want, slopes)
	}
}

// Documents that tie, without noise, are pulled apart: the slope of log2(1 + e^z) at
// 0 is 1/(2 ln 2).
func TestLambdaLossPullsTiesApart(t *testing.T) {
	g := G.NewGraph()
	l := ops.Lists{Scores: vector(g, "scores", tensor.Float64, []float64{2, 2})}
	loss, err := losses.Mean(losses.LambdaLoss, losses.Batch{
		Lists: l, Gains: vector(g, "gains", tensor.Float64, []float64{0, 1}), Noise: vector(g, "noise", tensor.Float64, []float64{0, 0}), Discounts: []float64{1},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, gradient := differentiate(t, loss, l.Scores)
	if want := 1 / (2 * math.Ln2); math.Abs(gradient[0]-want) > 1e-15 || math.Abs(gradient[1]+want) > 1e-15 {
		t.Errorf("gradient %v, want %v and its negative", gradient, want)
	}
}
