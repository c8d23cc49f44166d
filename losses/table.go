package losses

import (
	"math"
	"slices"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/plackett"
)

// An entry of the table describes the loss of a name. Everything that is known of a loss
// by its name, here, in the package comment and on help pages, follows from it.
type entry struct {
	name string
	doc  string // one line: what it is, and its source

	build  builder
	number number // that it may have for its parameter; without a name: none

	// With another loss of these names as parameter, it is about sampled exposure, with the
	// gradient by PL-Rank-RB, or by that loss where through builds it.
	by      []string
	through func(b *batch, loss builder) *G.Node

	target    target
	weights   weighting
	degree    int       // the loss is in proportion to the numbers of the target to this power
	noisy     bool      // noise of one size is added to the target, so that its size matters although the degree is 0
	logged    knowledge // of a log that it needs
	sampled   bool      // draws rankings or noise, as many as Batch.Sampler says
	objective string    // the loss whose value this one estimates, or only differentiates; "": it has its own
	most      int       // documents of a query; 0: any number
	unlogged  string    // the loss whose value says the same where nothing was logged; "": there is nothing to say
	measure   string    // of fairness that the loss is about; "": none
}

// A number is the parameter of a loss: above 0, and up to most.
type number struct {
	name, want           string
	usual, example, most float64
}

var (
	temperature = number{"temperature", "above 0", 1, .1, math.MaxFloat64}
	labelScale  = number{"scale", "above 0 and up to 1e6", 1, 2, 1e6}
	level       = number{"level", "between 0 and 1", .95, .95, math.Nextafter(1, 0)}
	ratio       = number{"ratio", "above 0 and up to 1", .5, .5, 1}
)

// A target is what the scores of a query are to agree with, and so tells what a loss needs,
// and whether a query without a document of gain says anything to it.
type target int

const (
	byGains  target = iota // Batch.Gains; a query without any has the loss 0
	byShares               // exposure that gains divide: where there are none, in equal parts
	byLabels               // Batch.Labels; a label of 0 is one like any other
	byGroups               // Batch.Groups or Batch.Logged; all documents count alike
)

// labelFree tells whether queries without a document of gain count.
func (t target) labelFree() bool { return t != byGains }

// A weighting says what the weight of a document multiplies, over the mean of the weights of its
// query, which multiplies the loss. It is how much the document counts; its gain, which says how
// good it is, stays.
type weighting int

const (
	ofPolicy   weighting = iota // e^m, which the probability to be chosen next is in proportion to
	ofCopies                    // e^m and the document's term, as if it were there that many times
	ofPairs                     // the term of each pair that the document is in
	ofRanks                     // as ofPairs, but only the derivatives of ranks
	ofTerms                     // the document's term
	unweighted                  // nothing: the loss does not go by labels
)

// knowledge is what is known of a log.
type knowledge int

const (
	nothing    knowledge = iota
	byExposure           // Batch.Logged
	byScores             // Batch.LoggedScores
)

// A section is the entries of one kind.
type section struct {
	title   string
	entries []entry
}

const exact = "plrank-exact"

// sections are all losses. A new one is a row here, and a function.
var sections = []section{
	{"Minus the metric expected under the Plackett–Luce policy of the scores m, for any gains ρ and discounts θ", []entry{
		{name: exact, doc: "−E[Σ_k θ_k ρ_y_k], value and gradient exact", build: expected, degree: 1},
	}},
	{"The same estimated from sampled rankings, or from noise, with an unbiased gradient", append(estimators(), []entry{
		{name: "placement-policy-gradient", doc: "REINFORCE, every rank rewarded from there on (Oosterhuis, SIGIR 2021, §5.1)", build: placementPolicyGradient, degree: 1, sampled: true, objective: exact},
		{name: "stochasticrank", doc: "StochasticRank with Gumbel noise (Ustimenko & Prokhorenkova, ICML 2020)", build: stochasticRank, degree: 1, sampled: true, objective: exact},
	}...)},
	{"Fairness of the expected exposure E, exactly, or sampled, such as disparity(plrank2) or ee-l(plrank-rb)", []entry{
		{name: "disparity", doc: "1/(D(D−1)) Σ (E_d' ρ_d − E_d ρ_d')² over pairs of documents (Oosterhuis, SIGIR 2021, §6)", build: disparity, weights: ofPairs, degree: 2, measure: "disparity",
			through: disparityBy, by: append(estimatorNames(), "placement-policy-gradient", "lambdaloss")},
		{name: "ee-l", doc: "Σ (E_d − E*_d)², E* of the best policy, ties sharing equally (Diaz et al., CIKM 2020)", build: exposureLoss, weights: ofTerms, target: byShares, measure: "ee-l", by: byRB},
		{name: "group-exposure", doc: "mean (X_g − X_h)² over pairs of groups, X the exposure a document (Singh & Joachims, KDD 2018)", build: groupExposure, target: byGroups, weights: unweighted, measure: "exposure-ratio", by: byRB},
		{name: "group-treatment", doc: "the same with X the exposure of a group by its gain (Singh & Joachims, KDD 2018)", build: groupTreatment, weights: ofTerms, degree: -2, measure: "treatment-ratio", by: byRB},
	}},
	{"What keeps a policy near that of a log, whose exposure was E0; S is that of documents, summed over impressions", []entry{
		{name: "exposure-risk", doc: "√(Z (1−δ)/δ Σ E_d²/S_d), Z = Σ E, at the level δ (Gupta, Oosterhuis & de Rijke, SIGIR 2023)", build: exposureRisk, number: level, target: byGroups, weights: unweighted, logged: byExposure},
		{name: "prpo", doc: "−Σ ρ_d min(E_d, E0_d/ε) over ρ_d ≥ 0, − Σ ρ_d max(E_d, ε E0_d) over others, at the ratio ε (Gupta, Oosterhuis & de Rijke, CIKM 2024)", build: prpo, number: ratio, degree: 1, logged: byScores, unlogged: exact},
	}},
	{"Pairs of documents, ρ_i > ρ_j", []entry{
		{name: "lambdaloss", doc: "Σ (θ_δ − θ_δ+1)(ρ_i − ρ_j) log2(1 + e^−(ŝ_i − ŝ_j)), ŝ = m + noise (Oosterhuis, SIGIR 2021, §7)", build: lambdaLoss, weights: ofPairs, degree: 1, sampled: true},
		{name: "lambdaloss-deterministic", doc: "the same without noise, ŝ = m; δ the distance of the ranks (Wang et al., CIKM 2018)", build: lambdaLossDeterministic, weights: ofPairs, degree: 1},
		{name: "ranknet", doc: "mean of log(1 + e^−(m_i − m_j)) (Burges et al., ICML 2005)", build: logisticPairs.mean, weights: ofPairs},
		{name: "hinge", doc: "mean of max(0, 1 − (m_i − m_j)) (Herbrich et al. 2000; Joachims, KDD 2002)", build: hingePairs.mean, weights: ofPairs},
		{name: "lambdarank", doc: "Σ (G_i − G_j)|θ_ri − θ_rj| log2(1 + e^−(m_i − m_j)), G = ρ / ideal DCG, r ranks (Burges et al., NIPS 2006)", build: lambdaRank, weights: ofPairs},
		{name: "ndcg-loss1", doc: "Σ_i G_i θ_ri Σ_j≠i log2(1 + e^−(m_i − m_j)), ranks beyond θ with the last, an upper bound on 1 − NDCG (Wang et al., CIKM 2018)", build: ndcgLoss1, weights: ofPairs},
		{name: "ndcg-loss2", doc: "lambdarank with weights (G_i − G_j)(θ_δ − θ_δ+1) (Wang et al., CIKM 2018)", build: ndcgLoss2, weights: ofPairs},
		{name: "ndcg-loss2pp", doc: "lambdarank and ten times ndcg-loss2, the NDCG-Loss2++ of Wang et al. (CIKM 2018)", build: ndcgLoss2PP, weights: ofPairs},
		{name: "ndcg-loss2k", doc: "ndcg-loss2 for a cutoff below the number of documents (Jagerman et al., SIGIR 2022)", build: ndcgLoss2AtK, weights: ofPairs},
	}},
	{"All documents of a query", []entry{
		{name: "softmax", doc: "−Σ (ρ_d / Σρ) log p_d, p = softmax of m (Bruch et al., ICTIR 2019)", build: softmax, weights: ofCopies},
		{name: "xe-ndcg", doc: "the same with noise on ρ, which makes it a bound of NDCG (Bruch, WWW 2021)", build: xendcg, weights: ofCopies, noisy: true, sampled: true},
		{name: "listnet", doc: "−Σ t_d log p_d, t = softmax of the labels, p of m (Cao et al., ICML 2007)", build: listNet, weights: ofCopies, target: byLabels},
		{name: "listmle", doc: "−log π of the ranking by gain, ties in any order (Xia et al., ICML 2008)", build: listMLE, weights: ofCopies},
		{name: "partial-listmle", doc: "−Σ_{ρ_d>0} log(e^m_d / Σ_{ρ_j≤ρ_d} e^m_j), for rankings of some of the documents (Plackett 1975)", build: partialListMLE, weights: ofCopies},
		{name: "approxndcg", doc: "−NDCG of all documents, with ranks 1 + Σ_j≠i sigmoid((m_j − m_i) / temperature) (Qin, Liu & Li 2010)", build: approxNDCG, weights: ofRanks, number: temperature},
		{name: "gumbel-approxndcg", doc: "the same with ŝ = m + noise for m (Bruch et al., WSDM 2020)", build: gumbelApproxNDCG, weights: ofRanks, number: temperature, sampled: true},
		{name: "pirank", doc: "−Σ_k θ_k Σ_d P_kd G_d, P by NeuralSort at a temperature (Swezey et al., NeurIPS 2021)", build: piRank, number: temperature},
		{name: "neuralndcg", doc: "pirank with P after Sinkhorn scaling (Pobrotyn & Białobrzeski 2021)", build: neuralNDCG, most: mostSorted, number: temperature},
	}},
	{"One document at a time, or its difference from the mean of the query", []entry{
		{name: "mse", doc: "1/D Σ (m_d − label_d)² (Cossock & Zhang, COLT 2006)", build: mse, weights: ofTerms, target: byLabels, degree: 1},
		{name: "query-rmse", doc: "Σ (m_d − m̄ − c(label_d − mean label))², c the scale (CatBoost's QueryRMSE, squared, times the documents per query)", build: queryRMSE, weights: ofTerms, number: labelScale, target: byLabels, degree: 1},
		{name: "ordinal", doc: "1/D Σ_d Σ_c log(1 + e^∓(m_d − c + ½)), − where label_d ≥ c (Rennie & Srebro 2005)", build: ordinal, weights: ofTerms, target: byLabels, degree: 1},
		{name: "cross-entropy", doc: "1/D Σ log(1 + e^m_d) − t_d m_d, t = label / highest grade (logistic regression)", build: binaryCrossEntropy, weights: ofTerms, target: byLabels, degree: 1},
	}},
}

var byRB = []string{plackett.PLRankRB.String()}

// estimators are the entries of the table of package plackett.
func estimators() (all []entry) {
	for _, e := range plackett.Estimators() {
		all = append(all, entry{name: e.String(), doc: e.Source(), build: estimated(e), degree: 1, sampled: true, objective: exact})
	}
	return all
}

func estimatorNames() (all []string) {
	for _, e := range plackett.Estimators() {
		all = append(all, e.String())
	}
	return all
}

// find gives the entry of a name.
func find(name string) (entry, bool) {
	for _, s := range sections {
		if i := slices.IndexFunc(s.entries, func(e entry) bool { return e.name == name }); i >= 0 {
			return s.entries[i], true
		}
	}
	return entry{}, false
}

// Names returns the names of all losses, in alphabetical order, those with the name of
// another loss for parameter among them, such as disparity(plrank2).
func Names() []string {
	var all []string
	for _, s := range sections {
		for _, e := range s.entries {
			all = append(all, e.names()...)
		}
	}
	slices.Sort(all)
	return all
}

// names are those of an entry, in alphabetical order: the one without a parameter, and those with the
// name of another loss for it.
func (e entry) names() []string {
	all := []string{e.name}
	for _, by := range e.by {
		all = append(all, e.name+"("+by+")")
	}
	slices.Sort(all)
	return all
}
