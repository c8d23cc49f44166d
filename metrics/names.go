package metrics

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plrank/plrank/internal/names"
)

// metricFamilies is the table of the metrics. A new metric is a row here, and a line with
// its formula and source in the comment of [ParseMeasure].
var metricFamilies = []*family{
	{name: "dcg", value: gainOf, weight: dcgWeight, theta: func(k, _, _ float64) float64 { return dcgWeight(k, 0) }},
	{name: "ndcg", value: gainOf, weight: dcgWeight, finish: byIdeal, slope: idealSlope, weightsOf: "dcg", letor4: letor4NDCG},
	{name: "precision", alias: "p", value: relevanceOf, weight: equalWeight, finish: byRanks,
		theta: func(_, cutoff, _ float64) float64 { return 1 / cutoff }},
	{name: "recall", value: relevanceOf, weight: equalWeight, finish: bySumOfValues, slope: sumSlope, weightsOf: "precision"},
	{name: "map", alias: "ap", value: relevanceOf, weight: inverseWeight, finish: bySumOfValues,
		walk: walkAP, expected: expectedAP},
	{name: "mrr", alias: "rr", value: relevanceOf, weight: inverseWeight, finish: bySumOfValues,
		walk: walkRR, expected: expectedStop, deviation: deviationOfFirst},
	{name: "err", param: highestGrade, graded: func(max float64) bool { return max == 0 }, value: stopOf,
		weight: inverseWeight, walk: walkERR, expected: expectedStop},
	{name: "rbp", param: persistence, value: relevanceOf, weight: rbpWeight,
		theta: func(k, _, p float64) float64 { return rbpWeight(k, p) }},
	{name: "arp", lowerIsBetter: true, value: gradeOf, weight: rankWeight, finish: finishARP,
		theta: func(k, cutoff, _ float64) float64 { return cutoff + 1 - k }, bySum: true},
	letor4NDCG,
	{name: "hits", alias: "success", value: relevanceOf, weight: equalWeight, finish: bySumOfValues,
		walk: walkHits, expected: expectedStop, deviation: deviationOfFirst},
	{name: "pair-accuracy", value: gradeOf, finish: finishPairs, walk: walkPairs, expected: expectedPairs},
	{name: "graded-rbp", param: persistence, graded: func(float64) bool { return true },
		value: gradedGainOf, weight: rbpWeight, finish: byHighestGain, weightsOf: "rbp"},
	{name: "alpha-ndcg", param: redundancy, ofIntents: true, value: relevanceOf, weight: dcgWeight, finish: byGreedyIdeal,
		walk: walkIntents, expected: expectedIntents},
	{name: "err-ia", param: redundancy, ofIntents: true, value: relevanceOf, weight: inverseWeight, finish: byBestOfEachIntent,
		walk: walkIntents, expected: expectedIntents},
	{name: "ils", ofVectors: true, lowerIsBetter: true, value: relevanceOf, weight: equalWeight, finish: takeVectors,
		walk: walkSimilarity, expected: expectedSimilarity},
	{name: "ild", ofVectors: true, value: relevanceOf, weight: equalWeight, finish: takeVectors,
		walk: walkDistance, expected: expectedDistance},
}

var letor4NDCG = &family{name: "letor4-ndcg", value: gainOf, weight: letor4Weight, finish: finishLETOR4NDCG}

// fairnessFamilies is the table of the fairness measures. A new one is a row here, and a
// line in the comment of [ParseMeasure].
var fairnessFamilies = []*family{
	{name: "disparity", lowerIsBetter: true, fairness: meanSquareDisparity},
	{name: "abs-disparity", lowerIsBetter: true, fairness: meanAbsDisparity},
	{name: "ee-l", lowerIsBetter: true, ofTarget: true, fairness: exposureLoss},
	{name: "ee-d", lowerIsBetter: true, fairness: exposureDisparity},
	{name: "ee-r", ofTarget: true, fairness: exposureRelevance},
	{name: "exposure-ratio", ofGroups: true, fairness: exposureRatio},
	{name: "treatment-ratio", ofGroups: true, fairness: treatmentRatio},
}

// persistence describes the parameter of rank-biased precision.
var persistence = param{"p", 0.8, "a persistence between 0 and 1", func(v float64) bool { return v > 0 && v < 1 }}

// redundancy describes the parameter of the metrics by intents.
var redundancy = param{"alpha", 0.5, "above 0 and up to 1", func(v float64) bool { return v > 0 && v <= 1 }}

// highestGrade describes the parameter of expected reciprocal rank; 0: the highest of the data set.
var highestGrade = param{"max", 0, "a label above 0, up to 31", func(v float64) bool { return v > 0 && v <= maxExp2Label }}

// Names returns the names of the metrics that [ParseMeasure] knows.
func Names() []string { return namesOf(metricFamilies) }

// FairnessNames returns the names of the fairness measures that [ParseMeasure] knows.
func FairnessNames() []string { return namesOf(fairnessFamilies) }

func namesOf(table []*family) []string {
	list := make([]string, len(table))
	for i, f := range table {
		list[i] = f.name
	}
	return list
}

// lookup returns the family of a name, nil if there is none.
func lookup(name string) *family {
	for _, f := range slices.Concat(metricFamilies, fairnessFamilies) {
		if f.name == name || f.alias == name {
			return f
		}
	}
	return nil
}

// ParseMeasure reads a measure as LightGBM, RankLib and ir_measures write it: one of [Names],
// then the parameter of a metric that has one, then "@k" for a cutoff k (without it the whole
// list counts). The prefix "expected-" makes it the expectation under the policy, and "deviation-", of mrr and hits, the standard
// deviation over rankings that are drawn from the policy. ParseMeasure also reads [FairnessNames]. Case does not matter:
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
//     et al., CIKM 2009. max is Queries.HighestGrade, or 4 in err(max=4).
//   - rbp: (1 − p) Σ over relevant r of p^(r−1). Moffat & Zobel, TOIS 2008. p is 0.8,
//     or 0.95 in rbp(p=0.95) and rbp(0.95).
//   - graded-rbp: (1 − p) Σ_r g_r p^(r−1) with g the gain divided by the gain of
//     Queries.HighestGrade; p as in rbp. Sakai & Kando, Information Retrieval 11, 2008.
//   - hits, or success: 1 if a relevant document is at rank k or above, else 0, as
//     success in trec_eval; hit rate in recommendation.
//   - pair-accuracy: the share of pairs of documents of different labels in which the one
//     of higher label is ranked above the other; pairs of equal scores count ½ (the
//     accuracy of pairs of TF-Ranking and CatBoost, AUC for two labels). A pair counts
//     ½ if both documents come after rank k, as if at one rank.
//   - alpha-ndcg: Σ_r 1/log2(r+1) Σ_i J_ri (1 − α)^{documents above r with intent i} / the same
//     of the best ranking, where J_ri is 1 if the document at rank r has intent i
//     (Queries.Intents; labels do not count). α is 0.5, or 0.2 in alpha-ndcg(alpha=0.2). Clarke
//     et al., SIGIR 2008. The best ranking is hard to find: as in TREC's ndeval it is the greedy
//     one, which takes the document of the highest gain at each rank; of several, the one with the
//     last id, or without Queries.DocumentIDs the intent of the highest number.
//   - err-ia: the same sum with 1/r in place of 1/log2(r+1), / Σ_{r≤k} M (1 − α)^{r−1} / r, its
//     value if every document had all M intents of the query, as ndeval's ERR-IA@k. Chapelle
//     et al., Information Retrieval 14, 2011, with the probability α to stop at a relevant document.
//   - ils: intra-list similarity, the mean cosine of the vectors of two documents down to rank k; less is better. Ziegler et
//     al., WWW 2005. The vector of a document has a 1 for its group (Queries.Groups), or, where there are no groups, for each of its
//     intents (Queries.Intents). Labels do not count. A document without any has the cosine 0.
//   - ild: intra-list distance, 1 − ils. Zhang & Hurley, RecSys 2008.
//   - arp: Σ_d label_d · rank_d / Σ_d label_d, the only metric where less is better.
//     Wang et al., CIKM 2018. Documents after rank k count as if at rank k+1, so that
//     moving a relevant document up never does harm.
//   - letor4-ndcg: NDCG as in LETOR 4.0's evaluation script (Eval-Score-4.0.pl), with the
//     discounts 1, 1, 1/log2(3), … 1/log2(r); 0 if the list is shorter than k.
//
// # Fairness
//
// E_d is the expected exposure of a document with the discounts of the Queries, see
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
	text, deviates := strings.CutPrefix(text, deviationPrefix)
	c, err := parseCall(text)
	if err != nil {
		return Measure{}, err
	}
	f := lookup(c.name)
	switch {
	case f == nil || f.fairness != nil && text != f.name:
		return Measure{}, fmt.Errorf("metrics: unknown metric %q: %s; @k sets a cutoff, and %s before it takes the expectation", text,
			names.Want(c.name, append(Names(), FairnessNames()...)), expectedPrefix)
	case deviates && (expected || f.deviation == nil):
		return Measure{}, fmt.Errorf("metrics: %q: the standard deviation is known of mrr and hits: want %[2]smrr or %[2]shits",
			name, deviationPrefix)
	case f.fairness != nil && expected:
		return Measure{}, fmt.Errorf("metrics: %q: %s is already an expectation: remove the prefix %s", name, text, expectedPrefix)
	}
	value, err := f.param.parse(c)
	if err != nil {
		return Measure{}, fmt.Errorf("metrics: %q: %w", text, err)
	}
	m := newMeasure(metric{f, c.cutoff, value}, expected || deviates)
	if deviates {
		m.name, m.deviates, m.lowerIsBetter = deviationPrefix+m.metric.String(), true, true
	}
	return m, nil
}
