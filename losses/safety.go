package losses

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/ops"
)

func exposureRisk(b *batch) *G.Node {
	l, logged, exposure := b.Lists, b.logged(), b.exposure()
	floored := larger(logged, scaled(spread(l, total(l, logged)), 1e-6))
	divergence := total(l, mul(square(exposure), inverse(floored)))
	return root(scaled(mul(total(l, exposure), divergence), (1-b.number)/b.number))
}

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
