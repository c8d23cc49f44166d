package losses_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/ops"
)

// thurstone is minus the DCG expected under another policy than Plackett–Luce, as a loss of one's own: it ranks by
// s ~ N(m, σ²) (Thurstone 1927, case V). Its gradient is the score function of what is drawn with a leave-one-out
// baseline, from N draws
//
//	−1/N Σ_i (r_i − 1/(N−1) Σ_{j≠i} r_j) (s_i − m)/σ².
//
// (docs/architecture.md says why there is no interface of policies.)
func thurstone(draws int, sigma float64) losses.Func {
	return func(b losses.Batch) (*G.Node, error) {
		l, m := b.Lists, b.Lists.Scores
		times := func(x *G.Node, v float64) *G.Node { return G.Must(G.Mul(x, G.NewConstant(v))) }
		// Of Gumbel noise g, e^−g is −log of a uniform number.
		exponential := func() *G.Node { return G.Must(G.Exp(G.Must(G.Neg(G.Must(ops.Gumbel(l, b.Sampler)))))) }
		rewards, logs := make(G.Nodes, draws), make(G.Nodes, draws)
		for i := range draws {
			radius := G.Must(G.Sqrt(times(exponential(), 2))) // Box & Muller (1958)
			angle := times(G.Must(G.Exp(G.Must(G.Neg(exponential())))), 2*math.Pi)
			normal := G.Must(G.HadamardProd(radius, G.Must(G.Cos(angle))))
			drawn := G.Must(G.Add(G.Must(op.Constant(m)), times(normal, sigma)))
			ranks := G.Must(ops.Ranks(ops.Lists{Scores: drawn, Offsets: l.Offsets}))
			discounts := times(G.Must(G.Inverse(G.Must(G.Log(G.Must(G.Add(ranks, G.NewConstant(2.))))))), math.Ln2)
			rewards[i] = G.Must(ops.SumOverDocuments(l, G.Must(G.HadamardProd(b.Gains, discounts))))
			logs[i] = G.Must(ops.SumOverDocuments(l, times(G.Must(G.Square(G.Must(G.Sub(drawn, m)))), -1/(2*sigma*sigma))))
		}
		sum, n := G.Must(G.ReduceAdd(rewards)), float64(draws)
		terms := make(G.Nodes, draws)
		for i, r := range rewards {
			above := times(G.Must(G.Sub(times(r, n), sum)), 1/(n*(n-1))) // (r − mean of the others)/N
			terms[i] = G.Must(G.HadamardProd(above, logs[i]))
		}
		return G.Neg(G.Must(G.ReduceAdd(terms)))
	}
}

// thurstoneDCG is the expected DCG under the policy of [thurstone], by quadrature: given its own score, a document has
// each other document above it independently, with the chance Φ((m_j − s)/σ).
func thurstoneDCG(m, gains []float64, sigma float64) (sum float64) {
	for d := range m {
		sum += gains[d] * quad.Fixed(func(z float64) (discount float64) {
			above := []float64{1} // the distribution of the number of documents above d
			for j := range m {
				if j == d {
					continue
				}
				p := distuv.UnitNormal.CDF((m[j]-m[d])/sigma - z)
				above = append(above, 0)
				for k := len(above) - 1; k >= 0; k-- {
					above[k] *= 1 - p
					if k > 0 {
						above[k] += p * above[k-1]
					}
				}
			}
			for k, p := range above {
				discount += p / math.Log2(float64(k)+2)
			}
			return discount * distuv.UnitNormal.Prob(z)
		}, -9, 9, 100, quad.Legendre{}, 0)
	}
	return sum
}

// Of two documents the first is above with the chance P = Φ(δ), δ = (m_1 − m_2)/(σ√2), so that
// dR/dm_1 = φ(δ)/(σ√2)·(ρ_1 − ρ_2)(θ_1 − θ_2), and dR/dm_2 its negative.
func TestThurstoneDCGOfTwoDocuments(t *testing.T) {
	const sigma = .8
	got := fd.Gradient(nil, func(m []float64) float64 { return thurstoneDCG(m, []float64{1, 3}, sigma) }, []float64{.3, -.2}, &fd.Settings{Formula: fd.Central})
	delta := .5 / (sigma * math.Sqrt2)
	want := distuv.UnitNormal.Prob(delta) / (sigma * math.Sqrt2) * (1 - 3) * (1 - 1/math.Log2(3))
	if !scalar.EqualWithinAbs(got[0], want, 1e-8) || !scalar.EqualWithinAbs(got[1], -want, 1e-8) {
		t.Errorf("the gradient is %v, want ±%v", got, want)
	}
}

// The mean of the gradients of many queries is the derivative of the expectation.
func TestAnotherPolicyHasAnUnbiasedGradient(t *testing.T) {
	const queries, sigma = 4000, 0.8
	for _, c := range []struct{ m, gains []float64 }{
		{[]float64{.3, -.2}, []float64{1, 3}},
		{[]float64{.3, -.2, 1, 0, -.7}, []float64{1, 3, 0, 7, 1}},
	} {
		g, n := G.NewGraph(), len(c.m)
		var offsets []int
		for q := range queries + 1 {
			offsets = append(offsets, n*q)
		}
		l := ops.Lists{Scores: vector(g, "scores", tensor.Float64, slices.Repeat(c.m, queries)), Offsets: ints(g, "offsets", offsets, len(offsets))}
		loss, err := losses.Mean(thurstone(4, sigma), losses.Batch{
			Lists: l, Gains: vector(g, "gains", tensor.Float64, slices.Repeat(c.gains, queries)), Sampler: ops.NewSampler(1, 1, 7),
		})
		if err != nil {
			t.Fatal(err)
		}
		_, gradient := differentiate(t, loss, l.Scores)
		want := fd.Gradient(nil, func(m []float64) float64 { return thurstoneDCG(m, c.gains, sigma) }, c.m, &fd.Settings{Formula: fd.Central})
		for d, want := range want {
			var estimates []float64
			for q := range queries {
				estimates = append(estimates, -queries*gradient[n*q+d])
			}
			mean, sd := stat.MeanStdDev(estimates, nil)
			if se := sd / math.Sqrt(queries); math.Abs(mean-want) > 4*se || se > .003*floats.Max(c.gains) {
				t.Errorf("%d documents: dR/dm_%d: %v ± %v, want %v", n, d+1, mean, se, want)
			}
		}
	}
}
