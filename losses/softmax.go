package losses

import (
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/ops"
)

// Softmax is the softmax cross-entropy with the gains as target (Bruch et al., ICTIR
// 2019), the cheapest of the listwise losses: the mean over queries of
//
//	−Σ_d (ρ_d / Σ ρ) log p_d,   p_d = exp m_d / Σ exp m.
//
// Queries without gains have 0. gains is [rows], none negative.
func Softmax(l ops.Lists, gains *G.Node) (*G.Node, error) { return mean(l)(softmax(l, gains)) }

func softmax(l ops.Lists, gains *G.Node) (perQuery *G.Node, err error) {
	if err := checkRows(l, "gains", gains); err != nil {
		return nil, err
	}
	defer caught(&err)
	gains = notNegative(l, "gain", gains)
	return crossEntropy(l, gains), nil
}

// crossEntropy is −Σ_d (t_d / Σ t) log p_d.
func crossEntropy(l ops.Lists, target *G.Node) *G.Node {
	hits := total(l, mul(target, G.Must(ops.LogSoftmax(l))))
	return neg(mul(hits, inverse(total(l, target))))
}

// ListNet is the cross-entropy of the probabilities to stand first, by the labels and
// by the scores (Cao et al., ICML 2007, with top-one probabilities), the mean over
// queries of
//
//	−Σ_d t_d log p_d,   t_d = exp label_d / Σ exp label,   p_d = exp m_d / Σ exp m.
//
// labels is [rows], the raw grades, of the dtype of the scores.
func ListNet(l ops.Lists, labels *G.Node) (*G.Node, error) { return mean(l)(listNet(l, labels, nil)) }

// listNet has a weight for every document, nil: 1. The target is then in proportion to
// w_d exp label_d.
func listNet(l ops.Lists, labels, weights *G.Node) (perQuery *G.Node, err error) {
	if err := checkRows(l, "labels", labels); err != nil {
		return nil, err
	}
	defer caught(&err)
	labels = finite(l, "label", labels)
	target := exp(G.Must(ops.LogSoftmax(ops.Lists{Scores: labels, Offsets: l.Offsets})))
	if weights != nil {
		return crossEntropy(l, mul(target, weights)), nil
	}
	return neg(total(l, mul(target, G.Must(ops.LogSoftmax(l))))), nil
}

// ListMLE is the negative log-likelihood of rankings under the Plackett–Luce policy of
// the scores (Xia et al., ICML 2008), the mean over queries of
//
//	−Σ_y log π(y) = −Σ_y Σ_k log P(y_k | y_1..k−1).
//
// rankings is [queries, samples, cutoff], see [ops.Rankings] for what −1 means: those
// of [ops.IdealRankings], or rankings that were observed. Shorter ones than the list
// give the top-k ListMLE (Xia et al., NIPS 2009).
func ListMLE(l ops.Lists, rankings *G.Node) (*G.Node, error) { return mean(l)(listMLE(l, rankings)) }

func listMLE(l ops.Lists, rankings *G.Node) (perQuery *G.Node, err error) {
	logs, err := ops.LogProbs(l, rankings)
	if err != nil {
		return nil, err
	}
	defer caught(&err)
	return neg(G.Must(G.Sum(logs, 1, 2))), nil
}
