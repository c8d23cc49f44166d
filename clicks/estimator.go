package clicks

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plrank/plrank/internal/names"
)

// An Estimator says how clicks become gains, or the value of a policy, by name. A number in
// brackets, as in "dr(0.01)", is its clip: probabilities of being shown, or examined, count
// as that where they are less. It bounds the weight of a click, and so the variance, for some
// bias.
type Estimator string

const (
	// Naive takes clicks for relevance. For Gains only.
	Naive Estimator = "naive"
	// IPS divides a click by α of the rank where it happened (Wang et al., SIGIR 2016;
	// Joachims, Swaminathan & Schnabel, WSDM 2017), which is unbiased for rankings that are
	// never drawn. For Gains only.
	IPS Estimator = "ips"
	// PolicyAware divides clicks by α as the policy of the log earned it on average, over
	// all of its rankings (Oosterhuis & de Rijke, SIGIR 2020). It needs documents that may
	// be shown, not ranks that are always examined.
	PolicyAware Estimator = "policy-aware"
	// Affine is PolicyAware with β subtracted from the clicks (Vardasbi et al., CIKM 2020;
	// Oosterhuis & de Rijke, WSDM 2021). For Evaluate both names are the same.
	Affine Estimator = "affine"
	// DR is doubly robust (Oosterhuis, TOIS 2023): a regression predicts relevance, and the
	// clicks of Affine correct it. Right where either the bias or the regression is.
	DR Estimator = "dr"

	// IIPS weighs the click on document d at rank k by P(d@k) of the target over that of the
	// log (Li et al., KDD 2018, the item-position model). It needs no bias. For Evaluate
	// only, as those below.
	IIPS Estimator = "iips"
	// RIPS weighs a click by how likely the ranking was down to it, under the target over
	// the log (McInerney et al., KDD 2020). It holds for cascades, where a click depends
	// on the documents above.
	RIPS Estimator = "rips"
	// WholeRanking weighs all clicks by how likely the ranking was. It assumes nothing about
	// clicks, and has a variance that leaves it for short rankings.
	WholeRanking Estimator = "whole-ranking"
)

// An estimatorEntry is what is known of an estimator. Names, checks and help follow from it.
type estimatorEntry struct {
	name            Estimator
	gains, evaluate bool // what it is for
	bias            bool // it needs a bias
	clip            bool // it may have a clip

	// leastSize is the effective size from which on intervals have the true value as often as they say.
	leastSize float64
}

var estimatorTable = []estimatorEntry{
	{name: Naive, gains: true},
	{name: IPS, gains: true, bias: true, clip: true},
	{name: PolicyAware, gains: true, evaluate: true, bias: true, clip: true, leastSize: 100},
	{name: Affine, gains: true, evaluate: true, bias: true, clip: true, leastSize: 100},
	{name: DR, gains: true, evaluate: true, bias: true, clip: true, leastSize: 100},
	{name: IIPS, evaluate: true, clip: true, leastSize: 100},
	{name: RIPS, evaluate: true, leastSize: 1000},
	{name: WholeRanking, evaluate: true, leastSize: 1000},
}

// NeedsBias tells whether an estimator needs the bias of ranks. One that is not known may.
func (e Estimator) NeedsBias() bool {
	entry, _, err := e.parse(func(estimatorEntry) bool { return true })
	return err != nil || entry.bias
}

// GainEstimators are the names that Gains knows.
func GainEstimators() []Estimator {
	return estimatorNames(func(e estimatorEntry) bool { return e.gains })
}

// ValueEstimators are the names that Evaluate knows.
func ValueEstimators() []Estimator {
	return estimatorNames(func(e estimatorEntry) bool { return e.evaluate })
}

func estimatorNames(of func(estimatorEntry) bool) (all []Estimator) {
	for _, e := range estimatorTable {
		if of(e) {
			all = append(all, e.name)
		}
	}
	return all
}

// parse finds the entry of an estimator and its clip, which is negative if there is none.
func (e Estimator) parse(of func(estimatorEntry) bool) (estimatorEntry, float64, error) {
	name, parameter, clipped := strings.Cut(string(e), "(")
	var known []string
	for _, entry := range estimatorTable {
		if !of(entry) {
			continue
		}
		known = append(known, string(entry.name))
		if string(entry.name) != name {
			continue
		}
		if !clipped {
			return entry, -1, nil
		}
		clip, err := strconv.ParseFloat(strings.TrimSuffix(parameter, ")"), 64)
		if !entry.clip || !strings.HasSuffix(parameter, ")") || err != nil || !(clip >= 0 && clip <= 1) {
			return entry, 0, fmt.Errorf("clicks: invalid estimator %q: the number in brackets is the least probability, 0 to 1, of policy-aware, affine, dr, iips and ips alone", e)
		}
		return entry, clip, nil
	}
	return estimatorEntry{}, 0, fmt.Errorf("clicks: unknown estimator %q: %s", name, names.Want(name, known))
}
