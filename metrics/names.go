package metrics

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plrank/plrank/internal/names"
)

// families is the table of the metrics. A new metric is a row here, and a line with its
// formula and source in the comment of [ParseMeasure].
var families = []*family{
	{name: "dcg", prepare: prepareDCG},
	{name: "ndcg", prepare: prepareNDCG, weightsOf: "dcg", letor4: letor4NDCG},
	{name: "precision", alias: "p", prepare: preparePrecision},
	{name: "recall", prepare: prepareRecall, weightsOf: "precision"},
	{name: "map", alias: "ap", prepare: prepareRelevance, walk: walkAP},
	{name: "mrr", alias: "rr", prepare: prepareRelevance, walk: walkRR, expected: expectedRR},
	{name: "err", param: highestGrade, graded: highestGradeIsOpen, prepare: prepareERR, walk: walkERR},
	{name: "rbp", param: persistence, prepare: prepareRBP},
	{name: "arp", lowerIsBetter: true, prepare: prepareARP},
	letor4NDCG,
	{name: "letor4-meanndcg", prepare: prepareLETOR4MeanNDCG},
	{name: "hits", alias: "success", prepare: prepareRelevance, walk: walkHits, expected: expectedHits},
	{name: "pair-accuracy", prepare: preparePairs, walk: walkPairs, expected: expectedPairs, expectedUncut: true},
	{name: "graded-rbp", param: persistence, graded: always, prepare: prepareGradedRBP, weightsOf: "rbp"},
}

// fairnessMeasures is the table of the fairness measures. A new one is a row here, and a
// line in the comment of [ParseMeasure].
var fairnessMeasures = []*fairness{
	{name: "disparity", lowerIsBetter: true, value: meanSquareDisparity},
	{name: "abs-disparity", lowerIsBetter: true, value: meanAbsDisparity},
	{name: "ee-l", lowerIsBetter: true, ofTarget: true, value: exposureLoss},
	{name: "ee-d", lowerIsBetter: true, value: exposureDisparity},
	{name: "ee-r", ofTarget: true, value: exposureRelevance},
	{name: "exposure-ratio", ofGroups: true, value: exposureRatio},
	{name: "treatment-ratio", ofGroups: true, value: treatmentRatio},
}

// Names lists the metrics that [ParseMeasure] knows.
func Names() []string {
	list := make([]string, len(families))
	for i, f := range families {
		list[i] = f.name
	}
	return list
}

// FairnessNames lists the fairness measures that [ParseMeasure] knows.
func FairnessNames() []string {
	list := make([]string, len(fairnessMeasures))
	for i, f := range fairnessMeasures {
		list[i] = f.name
	}
	return list
}

// ParseMeasure reads a measure as LightGBM, RankLib and ir_measures write it: a name of
// [Names], perhaps with "@k" for a cutoff k (else the whole list counts), and between them
// the parameter of a metric that has one. "expected-" before it makes it the expectation
// under the policy. Or it reads a name of [FairnessNames]. Case does not matter:
//
//	ndcg@5  NDCG@10  p@5  map  rbp(0.95)@10  err(max=2)@10  expected-ndcg@5  disparity
//
// # Metrics
//
// Ranks r run from 1 to k. ρ_r is the gain of the document at rank r (2^label − 1, or
// another [Gain]); it is relevant if its label is 1 or more.
//
//   - dcg: Σ_r ρ_r / log2(r+1). Järvelin & Kekäläinen, TOIS 2002; with this
//     discount Burges et al., ICML 2005.
//   - ndcg: dcg / the dcg of the best ranking, also cut at k.
//   - precision, or p: relevant documents down to rank k / k, also if the list is
//     shorter than k, as in trec_eval.
//   - recall: relevant documents down to rank k / relevant documents.
//   - map, or ap: average precision, Σ over relevant r of precision@r / min(k,
//     relevant documents), as in LightGBM; trec_eval's map_cut divides by all
//     relevant documents.
//   - mrr, or rr: 1 / the rank of the first relevant document, 0 if it comes after k.
//   - err: Σ_r 1/r · R_r · Π_{i<r} (1 − R_i) with R = (2^label − 1)/2^max. Chapelle
//     et al., CIKM 2009. max is Input.HighestGrade, or that of err(max=4).
//   - rbp: (1 − p) Σ over relevant r of p^(r−1). Moffat & Zobel, TOIS 2008. p is 0.8,
//     or that of rbp(p=0.95), rbp(0.95).
//   - graded-rbp: (1 − p) Σ_r g_r p^(r−1) with g the gain divided by that of
//     Input.HighestGrade; p as in rbp. Sakai & Kando, Information Retrieval 11, 2008.
//   - hits, or success: 1 if a relevant document is at rank k or above, else 0, as
//     success in trec_eval; hit rate in recommendation.
//   - pair-accuracy: the share of pairs of documents of different labels in which the one
//     of higher label is ranked above the other; pairs of equal scores count ½ (the
//     accuracy of pairs of TF-Ranking and CatBoost, AUC for two labels). Pairs of which
//     both come after rank k count ½, as if at one rank.
//   - arp: Σ_d label_d · rank_d / Σ_d label_d, the only metric of which less is better.
//     Wang et al., CIKM 2018. Documents after rank k count as if at rank k+1, so that
//     moving a relevant document up never does harm.
//   - letor4-ndcg: NDCG as in LETOR 4.0's evaluation script (Eval-Score-4.0.pl), with the
//     discounts 1, 1, 1/log2(3), … 1/log2(r); 0 if the list is shorter than k.
//   - letor4-meanndcg: that script's MeanNDCG, the mean of letor4-ndcg@1 … @D over a list
//     of D documents.
//
// # Fairness
//
// E_d is the expected exposure of a document with the discounts of the Input, see
// [Exposure], ρ_d its gain, D the number of documents.
//
//   - disparity: Σ_{d,d'} (E_{d'}ρ_d − E_dρ_{d'})² / D(D−1). Oosterhuis, SIGIR 2021, §6.
//     0 is fair: exposure in proportion to gain. It is 0 for a single document, and for a
//     query without gains.
//   - abs-disparity: the same with absolute values in place of squares.
//   - ee-l: the expected-exposure loss ‖E − E*‖². Diaz et al., CIKM 2020. E* is the
//     exposure under the policy that is best for relevance and lets documents of equal
//     gain share their ranks. 0 is fair. In a query without gains all documents are
//     equally relevant, and E* is the same for all.
//   - ee-d: its disparity part ‖E‖². A deterministic ranking has the most.
//   - ee-r: its relevance part Σ_d E_d E*_d; ee-l = ee-d − 2·ee-r + ‖E*‖².
//   - exposure-ratio: the smallest mean exposure of a group of documents divided by the
//     largest, the disparity that demographic parity forbids. 1 is fair.
//   - treatment-ratio: the same for mean exposure / mean gain of a group: the disparate
//     treatment ratio of Singh & Joachims, KDD 2018, which for two groups is this value or
//     its inverse. Groups without gain in a query do not count. 1 is fair.
//
// The ratios are NaN if fewer than two groups count, and 1 if no group has exposure.
// disparity, ee-l and ee-d grow with the square of the exposure, so that noise in a given
// exposure, estimated from N rankings, adds O(1/N) to them.
func ParseMeasure(name string) (Measure, error) {
	text, expected := strings.CutPrefix(strings.ToLower(strings.TrimSpace(name)), expectedPrefix)
	if i := slices.Index(FairnessNames(), text); i >= 0 {
		if expected {
			return Measure{}, fmt.Errorf("metrics: %q: %s is of the expected exposure by itself: leave %s off", name, text, expectedPrefix)
		}
		return ofFairness(fairnessMeasures[i]), nil
	}
	m, err := parseMetric(text)
	if err != nil {
		return Measure{}, err
	}
	if expected {
		return ofMetric(m, ofPolicy), nil
	}
	return ofMetric(m, ofRanking), nil
}

func parseMetric(name string) (metric, error) {
	c, ok, err := parseCall(name)
	switch {
	case err != nil:
		return metric{}, err
	case !ok:
		return metric{}, fmt.Errorf("metrics: %q is not a metric's name; write it like ndcg@5, map or rbp(p=0.95)@10", name)
	}
	i := slices.IndexFunc(families, func(f *family) bool { return f.name == c.name || f.alias == c.name })
	if i < 0 {
		text := fmt.Sprintf("metrics: unknown metric %q: want one of %s, with @k for a cutoff and %s before it for the expectation; or a measure of fairness: %s",
			name, strings.Join(Names(), ", "), expectedPrefix, strings.Join(FairnessNames(), ", "))
		if near := names.Nearest(c.name, append(Names(), FairnessNames()...)); near != "" {
			text += " (did you mean " + near + "?)"
		}
		return metric{}, errors.New(text)
	}
	m := metric{family: families[i], cutoff: c.cutoff}
	if m.param, err = m.family.param.parse(c); err != nil {
		return metric{}, fmt.Errorf("metrics: %q: %w", name, err)
	}
	return m, nil
}
