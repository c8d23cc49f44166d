package losses

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// ExposureRisk returns the loss √(Z (1−δ)/δ Σ_d E_d²/S_d), Z = Σ_d E_d, δ the level (Gupta,
// Oosterhuis & de Rijke, SIGIR 2023).
//
// It measures how far the exposure E of the policy is from the policies in a log. S_d, Batch.Logged,
// is the exposure that document d had in the log, summed over the impressions of the query: with N of
// them of the exposure E0, Σ E²/S = (1/N) Σ E²/E0. It comes from Cantelli's inequality: with
// probability 1−δ at least, the metric of a query under position-based clicks is not below its
// estimate from the log minus this loss. So a smaller δ is safer. Exposure and gradient are exact.
//
// The paper has one root over all Q queries. The mean of these roots is larger, by a factor of
// √Q where queries are alike: the weight 1/√Q makes it the paper's.
//
// The level is between 0 and 1, .95 by name; with another, building the loss returns an error. It reads
// Discounts and Logged, which must not be negative. An S_d below 1e-6 of Σ S counts as that much. A
// query that was never logged has the loss 0.
func ExposureRisk(level float64) Objective {
	return Objective{
		LabelFree: true, Logged: true, labels: true, weights: unweighted, err: levels.check(level, "ExposureRisk", level),
		graph: func(b *batch) *G.Node { return exposureRisk(b, level) },
	}
}

func exposureRisk(b *batch, level float64) *G.Node {
	l, logged, exposure := b.Lists, b.logged(), b.exposure(ExactExposure)
	floored := larger(logged, scaled(spread(l, total(l, logged)), 1e-6))
	divergence := total(l, mul(square(exposure), inverse(floored)))
	return root(scaled(mul(total(l, exposure), divergence), (1-level)/level))
}

// PRPO returns the loss −Σ_d ρ_d min(E_d, E0_d/ε) over ρ_d ≥ 0, −Σ_d ρ_d max(E_d, ε E0_d) over
// other documents, ε the ratio (Gupta, Oosterhuis & de Rijke, CIKM 2024).
//
// It is proximal ranking policy optimization: minus the expected metric, where nothing more is earned
// by leaving the policy of the log. E0 is the exposure under that policy, by its scores
// Batch.LoggedScores and the same discounts. It is the paper's Σ r_d f(E_d/E0_d) with r_d = ρ_d E0_d,
// ε− = ε and ε+ = 1/ε. Where all ratios are between these it is minus the expected metric; beyond,
// there is no gradient away from E0. Exposures and gradient are exact.
//
// The ratio is above 0 and at most 1, .5 by name; with another, building the loss returns an error. It reads
// Gains, finite, Discounts and LoggedScores.
func PRPO(ratio float64) Objective {
	metric := Expected(DCG, Exact)
	return Objective{
		LoggedScores: true, degree: 1, unlogged: &metric, err: ratios.check(ratio, "PRPO", ratio),
		graph: func(b *batch) *G.Node { return prpo(b, ratio) },
	}
}

func prpo(b *batch, ratio float64) *G.Node {
	l, gains, former, exposure := b.Lists, b.finiteGains(), b.former(), b.exposure(ExactExposure)
	size := G.Must(G.Abs(gains))
	good, bad := scaled(add(gains, size), .5), scaled(sub(gains, size), .5)
	most := neg(larger(neg(exposure), scaled(former, -1/ratio))) // the smaller of both
	return neg(total(l, add(mul(good, most), mul(bad, larger(exposure, scaled(former, ratio))))))
}

// larger is max(a, b). Where they are equal its derivative is half by each.
func larger(a, b *G.Node) *G.Node {
	return scaled(add(add(a, b), G.Must(G.Abs(sub(a, b)))), .5)
}

// root is √x, and 0 with the derivative 0 where x is 0.
func root(x *G.Node) *G.Node {
	zero := shifted(neg(nonzero(x)), 1)
	return sub(G.Must(G.Sqrt(add(x, zero))), zero)
}

// logged is the exposure of documents in the log.
func (b *batch) logged() *G.Node {
	b.checkRows("logged exposures", b.Logged)
	return notNegative(b.Lists, "logged exposure", b.Logged)
}

// former is the exposure of documents under the policy of the log.
func (b *batch) former() *G.Node {
	b.checkRows("logged scores", b.LoggedScores)
	l := ops.Lists{Scores: b.LoggedScores, Offsets: b.Lists.Offsets}
	return G.Must(op.Constant(G.Must(ops.ExpectedExposure(l, b.discounts()))))
}
