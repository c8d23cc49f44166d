package losses

import (
	"math"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/plrank/plrank/ops"
)

// LambdaLoss is the stochastic LambdaLoss that Oosterhuis (SIGIR 2021, §7) compares
// with: the LambdaLoss of Wang et al. (CIKM 2018) on scores perturbed by Gumbel
// noise, ŝ = m + noise. Over the pairs with ρ_i > ρ_j, with δ the distance of their
// ranks by ŝ,
//
//	mean_q (1/N) Σ_n Σ_{ij} (θ_δ − θ_{δ+1}) (ρ_i − ρ_j) log2(1 + exp(−(ŝ_i − ŝ_j))),
//
// θ being 0 beyond the last discount: pairs that stand further apart do not count,
// so the loss costs O(N·D·K) for a query. The weights are constants for
// differentiation.
//
// noise is [samples × rows], of the dtype of the scores, from [ops.Gumbel] or
// elsewhere, see there for absent samples. All else is built of standard Gorgonia
// ops, on the pairs gathered by the ranks that [ops.Order] gives.
func LambdaLoss(l ops.Lists, gains, noise *G.Node, discounts []float64) (loss *G.Node, err error) {
	order, err := ops.Order(l, noise)
	if err != nil {
		return nil, err
	}
	pairs, err := ops.RankPairs(l, gains, order, discounts)
	if err != nil {
		return nil, err
	}
	defer caught(&err)
	// ŝ and the gains, [samples × rows].
	perturbed := G.Must(G.Add(gather(l.Scores, pairs.Rows), noise))
	tiled := gather(gains, pairs.Rows)
	misorder := softplus(l, G.Must(G.Sub(gather(perturbed, pairs.Worse), gather(perturbed, pairs.Better))))
	gap := G.Must(G.Sub(gather(tiled, pairs.Better), gather(tiled, pairs.Worse)))
	weights := G.Must(G.HadamardProd(gap, pairs.Drops))
	total := G.Must(G.Sum(G.Must(G.HadamardProd(weights, misorder))))
	return G.Must(G.Mul(total, constant(l, 1/math.Ln2))), nil
}

// softplus is log(1 + e^z) = (z + |z|)/2 + log(1 + e^{−|z|}). Gorgonia's Softplus by
// itself has a derivative that is 1 from z = 19 on (15 in float32), off by 6e-9.
func softplus(l ops.Lists, z *G.Node) *G.Node {
	abs := G.Must(G.Abs(z))
	half := G.Must(G.Mul(G.Must(G.Add(z, abs)), constant(l, 0.5)))
	return G.Must(G.Add(half, G.Must(G.Softplus(G.Must(G.Neg(abs))))))
}

// gather picks the numbers of x at the given places.
func gather(x, at *G.Node) *G.Node { return G.Must(ops.Gather(x, at)) }

// constant is a number of the dtype of the scores.
func constant(l ops.Lists, v float64) *G.Node {
	if l.Scores.Dtype() == tensor.Float32 {
		return G.NewConstant(float32(v))
	}
	return G.NewConstant(v)
}

// caught turns the panic of [G.Must] into the error that it stands for.
func caught(err *error) {
	switch r := recover().(type) {
	case nil:
	case error:
		*err = r
	default:
		panic(r)
	}
}
