package losses

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/losses/internal/lossops"
	"github.com/plrank/plrank/ops"
)

// Disparity is that of the PL-Rank paper (Oosterhuis, SIGIR 2021, §6), the mean over
// queries of
//
//	1/(D(D−1)) Σ_{d,d'} (E_{d'} ρ_d − E_d ρ_{d'})²:
//
// 0 where exposure is in proportion to gain, and for queries of one document or
// without gains. exposure is [rows], from [ops.ExpectedExposure] or [ops.Exposure]; so that
// the gradient is unbiased, that of ops.Exposure must be estimated from other rankings
// than the exposure itself. The derivative by E_d is (the paper leaves out the minus)
//
//	−4/(D(D−1)) Σ_{d'} (E_{d'} ρ_d − E_d ρ_{d'}) ρ_{d'}.
//
// It costs O(D): with c the exposure per gain that fits best, Σ E ρ / Σ ρ², the
// double sum is 2 Σ ρ² Σ (E − cρ)².
func Disparity(l ops.Lists, gains, exposure *G.Node) (*G.Node, error) {
	return mean(l)(disparity(l, gains, exposure))
}

func disparity(l ops.Lists, gains, exposure *G.Node) (perQuery *G.Node, err error) {
	if err := checkExposure(l, "gains", gains, exposure); err != nil {
		return nil, err
	}
	defer caught(&err)
	gains = finite(l, "gain", gains)
	merit := total(l, square(gains))
	c := mul(total(l, mul(exposure, gains)), inverse(merit))
	unearned := sub(exposure, mul(spread(l, c), gains))
	sum := mul(merit, total(l, square(unearned)))
	return scaled(l, mul(sum, perPair(count(l))), 2), nil
}

// DisparityGains are gains whose expected metric has the gradient of minus the
// [Disparity], minus its derivative by the exposures,
//
//	4/(D(D−1)) Σ_{d'} (E_{d'} ρ_d − E_d ρ_{d'}) ρ_{d'} = 4/(D(D−1)) (ρ_d Σ E ρ − E_d Σ ρ²),
//
// [rows], constant for differentiation. Any estimator of the gradient of an expected
// metric, given them for gains, so estimates that of the disparity (Oosterhuis, SIGIR
// 2021, §6), without bias if exposure is estimated from other rankings. The arguments
// are those of Disparity.
func DisparityGains(l ops.Lists, gains, exposure *G.Node) (rewards *G.Node, err error) {
	if err := checkExposure(l, "gains", gains, exposure); err != nil {
		return nil, err
	}
	defer caught(&err)
	gains = finite(l, "gain", gains)
	earned := mul(gains, spread(l, total(l, mul(exposure, gains))))
	had := mul(exposure, spread(l, total(l, square(gains))))
	rewards = mul(sub(earned, had), spread(l, perPair(count(l))))
	return G.Must(ops.Constant(scaled(l, rewards, 4))), nil
}

// ExposureLoss is the expected-exposure loss of Diaz et al. (CIKM 2020), the mean
// over queries of
//
//	‖E − E*‖² = Σ_d (E_d − E*_d)²,
//
// where E* is the exposure under the policy that is best for relevance and lets
// documents of equal gain share the discounts of their ranks equally. exposure is as in
// [Disparity], discounts are those that it was computed with. A query of one
// document has 0; in one without gains all documents are to share alike.
func ExposureLoss(l ops.Lists, gains, exposure *G.Node, discounts []float64) (*G.Node, error) {
	return mean(l)(exposureLoss(l, gains, exposure, discounts))
}

func exposureLoss(l ops.Lists, gains, exposure *G.Node, discounts []float64) (perQuery *G.Node, err error) {
	if err := checkExposure(l, "gains", gains, exposure); err != nil {
		return nil, err
	}
	defer caught(&err)
	target := G.Must(lossops.TargetExposure(l, gains, discounts))
	return total(l, square(sub(exposure, target))), nil
}

// GroupExposure asks for equal exposure of groups of documents, the demographic
// parity of Singh & Joachims (KDD 2018): with X_g the mean exposure of the documents
// of group g in a query, it is the mean over queries of
//
//	the mean over pairs of groups of (X_g − X_h)²,
//
// 0 for queries with fewer than two groups. groups is int [rows], negative for
// documents of no group; exposure is as in [Disparity].
func GroupExposure(l ops.Lists, groups, exposure *G.Node) (*G.Node, error) {
	return mean(l)(groupExposure(l, groups, exposure))
}

func groupExposure(l ops.Lists, groups, exposure *G.Node) (perQuery *G.Node, err error) {
	if err := checkRows(l, "exposures", exposure); err != nil {
		return nil, err
	}
	defer caught(&err)
	heads := G.Must(lossops.GroupHeads(l, groups))
	one := nonzero(spread(l, count(l)))
	size := G.Must(lossops.SumOverGroups(l, groups, one))
	each := mul(G.Must(lossops.SumOverGroups(l, groups, exposure)), inverse(size))
	return betweenGroups(l, heads, each), nil
}

// GroupTreatment asks for exposure of groups of documents in proportion to what they
// merit, without the disparate treatment of Singh & Joachims (KDD 2018): it is
// [GroupExposure] with X_g the exposure of a group divided by its gain,
//
//	X_g = Σ_{d∈g} E_d / Σ_{d∈g} ρ_d.
//
// Groups without gain in a query do not count in it. gains must not be negative.
func GroupTreatment(l ops.Lists, gains, groups, exposure *G.Node) (*G.Node, error) {
	return mean(l)(groupTreatment(l, gains, groups, exposure))
}

func groupTreatment(l ops.Lists, gains, groups, exposure *G.Node) (perQuery *G.Node, err error) {
	if err := checkExposure(l, "gains", gains, exposure); err != nil {
		return nil, err
	}
	defer caught(&err)
	gains = notNegative(l, "gain", gains)
	merit := G.Must(lossops.SumOverGroups(l, groups, gains))
	heads := mul(G.Must(lossops.GroupHeads(l, groups)), nonzero(merit))
	each := mul(G.Must(lossops.SumOverGroups(l, groups, exposure)), inverse(merit))
	return betweenGroups(l, heads, each), nil
}

// betweenGroups is the mean over pairs of groups of the squared difference, which is 2n/(n(n−1)) times the squares around the mean. each is
// the value of the group of every document; heads is 1 for one document of each
// group that counts, 0 for all others.
func betweenGroups(l ops.Lists, heads, each *G.Node) *G.Node {
	n := total(l, heads)
	average := mul(total(l, mul(heads, each)), inverse(n))
	squares := total(l, mul(heads, square(sub(each, spread(l, average)))))
	return scaled(l, mul(squares, mul(n, perPair(n))), 2)
}

// perPair is 1/(n(n−1)), and 0 where there is no pair.
func perPair(n *G.Node) *G.Node { return inverse(sub(square(n), n)) }

func checkExposure(l ops.Lists, what string, n, exposure *G.Node) error {
	if err := checkRows(l, what, n); err != nil {
		return err
	}
	return checkRows(l, "exposures", exposure)
}
