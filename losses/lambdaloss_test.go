package losses_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/optest"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
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
		hat, rank := noisyRanks(scores, z)
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

// noisyRanks are scores plus noise, and their ranks from 0.
func noisyRanks(scores, noise []float64) (hat []float64, rank []int) {
	hat, rank = slices.Clone(scores), make([]int, len(scores))
	floats.Add(hat, noise)
	for i := range hat {
		for j := range hat {
			if hat[j] > hat[i] || hat[j] == hat[i] && j < i {
				rank[i]++
			}
		}
	}
	return hat, rank
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
		loss, err := lambdaLossObjective.Mean(losses.Batch{
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

// ofGorgoniasOps is the loss of one query in Gorgonia's own ops: the gaps of all pairs, a row of
// pairs a sample, with their noise and their weights as constants.
func ofGorgoniasOps(m *G.Node, gains, discounts []float64, noise [][]float64) *G.Node {
	scores, n := numbers(m.Value()), len(gains)
	var z, w []float64
	for _, sample := range noise {
		_, rank := noisyRanks(scores, sample)
		theta := slices.Concat([]float64{0}, discounts, make([]float64, n)) // by rank, from 1
		for i := range n {
			for j := range n {
				// By the definition, (θ_δ − θ_{δ+1}) (ρ_i − ρ_j) where ρ_i > ρ_j.
				delta := max(rank[i]-rank[j], rank[j]-rank[i])
				w = append(w, (theta[delta]-theta[delta+1])*max(0, gains[i]-gains[j]))
				z = append(z, sample[j]-sample[i])
			}
		}
	}
	constants := 0 // named, as Gorgonia takes those that print alike for one
	constant := func(x []float64, rows int) *G.Node {
		constants++
		return G.NewConstant(optest.Dense(m.Dtype(), x, rows, len(x)/rows), G.WithName(fmt.Sprint("constant ", constants)))
	}
	ones := func(rows, columns int) *G.Node { return constant(slices.Repeat([]float64{1}, rows*columns), rows) }
	row := G.Must(G.Mul(ones(n, 1), G.Must(G.Reshape(m, tensor.Shape{1, n}))))
	column := G.Must(G.Mul(G.Must(G.Reshape(m, tensor.Shape{n, 1})), ones(1, n)))
	gaps := G.Must(G.Reshape(G.Must(G.Sub(row, column)), tensor.Shape{1, n * n})) // m_j − m_i
	noisy := G.Must(G.Add(G.Must(G.Mul(ones(len(noise), 1), gaps)), constant(z, len(noise))))
	sum := G.Must(G.Sum(G.Must(G.HadamardProd(constant(w, len(noise)), G.Must(G.Softplus(noisy))))))
	scale := optest.Dense(m.Dtype(), []float64{1 / math.Ln2 / float64(len(noise))}, 1).Get(0)
	return G.Must(G.Mul(sum, G.NewConstant(scale)))
}

// The loss of one query is the same in Gorgonia's own ops, and so is that without noise.
func TestLambdaLossEqualsGorgoniasOps(t *testing.T) {
	scores, gains, discounts := []float64{.3, -1.2, 2, .7, .1}, []float64{3, 0, 1, 0, 7}, []float64{1, .63, .5}
	for name, noise := range map[string][][]float64{
		"lambdaloss-deterministic": {make([]float64, 5)},
		"lambdaloss":               {{1, 0, -2, .5, 3}, {-1, 2, .25, 4, 0}, {.1, .2, .3, .4, .5}},
	} {
		g := G.NewGraph()
		own := vector(g, "own", tensor.Float64, scores)
		loss, err := meanOf(name, losses.Batch{
			Lists: ops.Lists{Scores: own}, Gains: vector(g, "gains", tensor.Float64, gains), Noise: vector(g, "noise", tensor.Float64, flat(noise)), Discounts: discounts,
		})
		if err != nil {
			t.Fatal(err)
		}
		value, gradient := differentiate(t, loss, own)
		m := vector(G.NewGraph(), "m", tensor.Float64, scores)
		want, slopes := differentiate(t, ofGorgoniasOps(m, gains, discounts, noise), m)
		if math.Abs(value-want) > 1e-12 || !floats.EqualApprox(gradient, slopes, 1e-12) {
			t.Errorf("%s: loss %v and gradient %v, by Gorgonia's ops %v and %v", name, value, gradient, want, slopes)
		}
	}
}

// BenchmarkLambdaLoss is one run of the graph of LambdaLoss and its gradient for a query of 125
// documents, in float32, K = 5: as one op, which draws noise and ranks, and in Gorgonia's ops, which
// are given the noise and the weights; compared with PL-Rank-2.
func BenchmarkLambdaLoss(b *testing.B) {
	const documents = 125
	rng := rand.New(rand.NewPCG(1, 1))
	f := fixture{offsets: []int{0, documents}, groups: make([]int, documents), discounts: metrics.Discounts(5)}
	for range documents {
		label := float64(max(0, rng.IntN(8)-3))
		f.scores, f.labels, f.gains = append(f.scores, rng.NormFloat64()), append(f.labels, label), append(f.gains, math.Exp2(label)-1)
	}
	for _, name := range []string{"plrank2", "lambdaloss", "gorgonia"} {
		for _, samples := range []int{1, 10, 100, 1000} {
			b.Run(fmt.Sprintf("%s/N=%d", name, samples), func(b *testing.B) {
				batch := f.batch(tensor.Float32)
				batch.Sampler = ops.NewSampler(samples, len(f.discounts), 1)
				m := batch.Lists.Scores
				var loss *G.Node
				if name == "gorgonia" {
					noise := make([][]float64, samples)
					for i := range noise {
						for range documents {
							noise[i] = append(noise[i], -math.Log(rng.ExpFloat64()))
						}
					}
					loss = ofGorgoniasOps(m, f.gains, f.discounts, noise)
				} else {
					loss = build(b, name, batch)
				}
				grads, err := G.Grad(loss, m)
				if err != nil {
					b.Fatal(err)
				}
				optest.Benchmark(b, m, loss, grads[0])
			})
		}
	}
}

// Documents that tie, without noise, are pulled apart: the slope of log2(1 + e^z) at
// 0 is 1/(2 ln 2).
func TestLambdaLossPullsTiesApart(t *testing.T) {
	g := G.NewGraph()
	l := ops.Lists{Scores: vector(g, "scores", tensor.Float64, []float64{2, 2})}
	loss, err := lambdaLossObjective.Mean(losses.Batch{
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
