package losses

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/ops"
)

// exposureRisk is how far the exposure E of the policy is from that of the policies which were
// logged, for the level δ, between 0 and 1 (Gupta, Oosterhuis & de Rijke, SIGIR 2023):
//
//	√(Z (1−δ)/δ Σ_d E_d² / S_d),   Z = Σ_d E_d
//
// where S_d, Batch.Logged, is the exposure that document d had in the log, summed over the
// impressions of the query: with N of them of the exposure E0, Σ E²/S = (1/N) Σ E²/E0. It is
// what Cantelli's inequality asks for: with probability 1−δ at least, the metric of a query
// under position-based clicks is not below its estimate from the log, less this. So a smaller δ
// is safer. Exposure and gradient are exact.
//
// The paper has one root over all Q queries. The mean of these roots is larger, by a factor of
// √Q where queries are alike: the weight 1/√Q makes it theirs.
//
// An S_d below 1e-6 of Σ S counts as that. A query that was never logged has the loss 0.
func exposureRisk(b *batch) *G.Node {
	l, logged, exposure := b.Lists, b.logged(), b.exposure()
	floored := larger(logged, scaled(spread(l, total(l, logged)), 1e-6))
	divergence := total(l, mul(square(exposure), inverse(floored)))
	return root(scaled(mul(total(l, exposure), divergence), (1-b.number)/b.number))
}

// prpo is minus the expected metric with what is earned by leaving the policy of the log cut
// off, for ε from 0 to 1 (proximal ranking policy optimization; Gupta, Oosterhuis & de Rijke,
// CIKM 2024):
//
//	−Σ_d ρ_d min(E_d, E0_d/ε) for gains ρ_d ≥ 0, and −Σ_d ρ_d max(E_d, ε E0_d) for others
//
// with E0 the exposure of the policy of the log, by its scores Batch.LoggedScores and the same
// discounts. It is the paper's Σ r_d f(E_d/E0_d) with r_d = ρ_d E0_d, ε− = ε and ε+ = 1/ε. Where
// all ratios are between these it is minus the expected metric; beyond, there is no gradient away
// from E0. Exposures and gradient are exact.
func prpo(b *batch) *G.Node {
	l, gains, former, exposure := b.Lists, b.finiteGains(), b.former(), b.exposure()
	size := G.Must(G.Abs(gains))
	good, bad := scaled(add(gains, size), .5), scaled(sub(gains, size), .5)
	most := neg(larger(neg(exposure), scaled(former, -1/b.number))) // the smaller of both
	return neg(total(l, add(mul(good, most), mul(bad, larger(exposure, scaled(former, b.number))))))
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
	of := b.Lists
	of.Scores = b.LoggedScores
	return G.Must(ops.Constant(G.Must(ops.ExpectedExposure(of, b.discounts()))))
}
