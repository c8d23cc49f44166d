package losses

import (
	"fmt"

	G "gorgonia.org/gorgonia"
)

// ExposureRisk is how far the exposure E of the policy is from that of the policies which were
// logged, for the confidence δ, between 0 and 1 (Gupta, Oosterhuis & de Rijke, SIGIR 2023):
//
//	√(Z (1−δ)/δ Σ_d E_d² / S_d),   Z = Σ_d E_d
//
// where S_d, Batch.Logged, is the exposure that document d had in the log, summed over the
// impressions of the query: with N of them of the exposure E0, Σ E²/S = (1/N) Σ E²/E0. Added
// to minus a metric that is estimated from the log it makes a bound on the metric that holds
// with that probability. Exposure and gradient are exact.
//
// An S_d below 1e-6 of Σ S counts as that. A query that was never logged has the loss 0.
func ExposureRisk(confidence float64) Func {
	if !(confidence > 0 && confidence < 1) {
		return invalid(fmt.Errorf("losses: exposure-risk(%v): want a confidence between 0 and 1, such as 0.95", confidence))
	}
	return exposed("exposure-risk", byGroups, func(b *batch, exposure *G.Node) *G.Node {
		l, logged := b.Lists, b.logged()
		floored := larger(logged, scaled(spread(l, total(l, logged)), 1e-6))
		divergence := total(l, mul(square(exposure), inverse(floored)))
		return root(scaled(mul(total(l, exposure), divergence), (1-confidence)/confidence))
	})
}

// PRPO is minus the expected metric with what is earned by leaving the exposure of the log cut
// off, for ε from 0 to 1 (proximal ranking policy optimization; Gupta, Oosterhuis & de Rijke,
// CIKM 2024):
//
//	−Σ_d ρ_d min(E_d, E0_d/ε) for gains ρ_d ≥ 0, and −Σ_d ρ_d max(E_d, ε E0_d) for others
//
// with E0 the exposure of the log, Batch.Logged, in proportions that sum to Σ E. It is the
// paper's Σ r_d clip(E_d/E0_d, ε, 1/ε) with r_d = ρ_d E0_d. Where all ratios are between ε and
// 1/ε it is minus the expected metric; beyond, there is no gradient away from E0. Exposure and
// gradient are exact. A query that was never logged has the loss 0 if its gains are not
// negative.
func PRPO(epsilon float64) Func {
	if !(epsilon > 0 && epsilon <= 1) {
		return invalid(fmt.Errorf("losses: prpo(%v): want a ratio above 0 and up to 1, such as 0.5", epsilon))
	}
	return exposed("prpo", byGains, func(b *batch, exposure *G.Node) *G.Node {
		l, gains, logged := b.Lists, b.finiteGains(), b.logged()
		former := mul(logged, spread(l, mul(total(l, exposure), inverse(total(l, logged)))))
		size := G.Must(G.Abs(gains))
		good, bad := scaled(add(gains, size), .5), scaled(sub(gains, size), .5)
		most := neg(larger(neg(exposure), scaled(former, -1/epsilon))) // the smaller of both
		return neg(total(l, add(mul(good, most), mul(bad, larger(exposure, scaled(former, epsilon))))))
	})
}

// exposed is a loss of the exact exposure.
func exposed(name string, of target, build func(b *batch, exposure *G.Node) *G.Node) Func {
	t := Term{Loss: name, Weight: 1, entry: entry{name: name, target: of, degree: 1}}
	t.build = func(b *batch) *G.Node { return build(b, b.exposure()) }
	return sum([]Term{t})
}

// invalid is the loss of a parameter that is none.
func invalid(err error) Func { return func(Batch) (*G.Node, error) { return nil, err } }

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
