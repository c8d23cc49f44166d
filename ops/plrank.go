package ops

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/plackett"
)

// PLRank1 estimates the metric of every query expected under the Plackett–Luce
// policy of the scores, from sampled rankings: with gains ρ and discounts θ,
//
//	R_q = E_y[Σ_k θ_k ρ_{y_k}] ≈ mean over rankings of Σ_k θ_k ρ_{y_k},
//
// a node [queries] of the dtype of the scores; queries without documents get 0.
// The backward pass injects PL-Rank-1's estimate of the gradient (Oosterhuis,
// SIGIR 2021, §5.2) into the scores: with W_k = Σ_{x≥k} θ_x ρ_{y_x} and P_k(d) the
// probability of placing d at rank k given the ranks before it,
//
//	λ_d = mean over rankings of Σ_k W_k (1[y_k = d] − P_k(d)).
//
// R is to be maximised: a loss is its negative. A λ_d below 1e-20·max|ρ|·Σ|θ| is 0, and so
// is one below the smallest normal number of the dtype: sums in float32 do not see them, and
// some processors take a hundred times as long for such small numbers.
//
// gains is [rows], of the dtype of the scores, any sign. rankings is
// [queries, samples, cutoff], from [Rankings] or elsewhere, see there for what
// −1 means. With fewer discounts than ranks the first ranks count. Gains,
// rankings and offsets are constants for differentiation. It returns an error if nodes
// do not fit. The run returns one, which says where, if scores are not finite, offsets
// descend, entries of rankings are not a ranking of their query, or a ranking
// ends before the discounts and the documents do.
// It costs O(D + N·K) for a query of D documents with N rankings of K documents.
// Its value lasts until the next run.
func PLRank1(l Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return plRank(plackett.PLRank1, "PLRank1", l, gains, rankings, discounts)
}

// PLRank2 returns [PLRank1] with the gradient of PL-Rank-2 (Oosterhuis, SIGIR 2021,
// §5.3 and Algorithm 1; PL-Rank-3 of SIGIR 2022 computes the same numbers),
// which also uses the gains of the documents that were not sampled:
//
//	λ_d = mean over rankings of Σ_k 1[y_k = d]·W_{k+1} + P_k(d)·(θ_k ρ_d − W_k).
//
// Its value lasts until the next run.
func PLRank2(l Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return plRank(plackett.PLRank2, "PLRank2", l, gains, rankings, discounts)
}

// PLRankRB returns [PLRank1] with the estimates of PL-Rank-RB, which have the same
// expectation and usually less variance than PL-Rank-2's: 10 to 1000 times less where
// scores are flat, about 10 times where they are peaked; more is possible on lists of a
// few documents (docs/pl-rank-rb.md). Rewards are replaced by their expectation given
// the ranking so far (Rao–Blackwell), and the mean over the other rankings is subtracted.
// With ρ̄_k = Σ_d P_k(d) ρ_d,
// V_k = Σ_{x≥k} θ_x ρ̄_x, and a_k = V_{k+1} minus the mean of V_{k+1} over the other
// rankings (without others: minus its value for the likeliest ranking),
//
//	R_q ≈ mean over rankings of Σ_k θ_k ρ̄_k,
//	λ_d = mean over rankings of Σ_k (1[y_k = d] − P_k(d))·a_k + P_k(d)·θ_k (ρ_d − ρ̄_k).
//
// The rankings of a query must be independent draws. Its value lasts until the next run.
func PLRankRB(l Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return plRank(plackett.PLRankRB, "PLRankRB", l, gains, rankings, discounts)
}

// PLRankBy returns [PLRank1] with the gradient of any estimator of package plackett.
// Its value lasts until the next run.
func PLRankBy(e plackett.Estimator, l Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	if err := e.Check(); err != nil {
		return nil, fmt.Errorf("ops: PLRankBy: %w", err)
	}
	return plRank(e, e.String(), l, gains, rankings, discounts)
}

func plRank(e plackett.Estimator, name string, l Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error) {
	return op.Metric("ops: "+name, "", l, func(l *op.List, lambda []float64) (float64, error) {
		rankings, err := l.FullRankings(2)
		if err != nil {
			return 0, err
		}
		return op.Own[plackett.Kernel](l).Gradient(e, l.X[0], l.X[1], l.Discounts, plackett.Rankings(rankings), lambda)
	}, op.Rows("gains", gains), op.Rankings(rankings), op.Discounts(discounts))
}

// ExpectedMetric returns the metric of every query expected under the Plackett–Luce policy of
// the scores,
//
//	R_q = E_y[Σ_k θ_k ρ_{y_k}],
//
// a node [queries] of the dtype of the scores; queries without documents get 0. There
// are no rankings and no N: it is exact, to 1e-7 of max|ρ|·Σ|θ| before it is rounded to
// the dtype, by the quadrature of [plackett.Expectation], and so is its gradient in the
// scores, the gradient of a pairwise loss (docs/exact.md):
//
//	λ_d = Σ_j (ρ_d − ρ_j) W_dj.
//
// R is to be maximised: a loss is its negative. As in [PLRank1], a λ_d below
// 1e-20·max|ρ|·Σ|θ| is 0. Gains, [rows], may have any sign;
// discounts any sign and order, and beyond the number of documents they have no effect.
// Gains and offsets are constants for differentiation. It returns an error if nodes do not
// fit. The run returns one, which says where, if scores or gains are not finite, or if
// offsets descend. It costs O(D·K) for a query and a node of the quadrature, gradient
// included: for small K about as much as a few hundred samples. For whole lists under DCG, RBP and the
// like it costs O(D) (docs/exact.md, section 5). Its value lasts until the next run.
func ExpectedMetric(l Lists, gains *G.Node, discounts []float64) (*G.Node, error) {
	return op.Metric("ops: ExpectedMetric", "", l, func(l *op.List, lambda []float64) (float64, error) {
		return op.Own[plackett.Expectation](l).Gradient(l.X[0], l.X[1], l.Discounts, lambda)
	}, op.Rows("gains", gains), op.Discounts(discounts))
}
