package clicks

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plrank/plrank/internal/names"
)

// An Estimator names a way to turn clicks into gains, or into the value of a policy. A number in
// brackets, as in "dr(0.01)", is its clip: smaller probabilities of being shown or examined are
// raised to it. A clip bounds the weight of a click, and so the variance, at the price of some
// bias.
type Estimator string

const (
	// Naive takes clicks for relevance. For Gains only.
	Naive Estimator = "naive"
	// IPS divides a click by α of its rank (Wang et al., SIGIR 2016; Joachims, Swaminathan &
	// Schnabel, WSDM 2017), which is unbiased for deterministic rankings. For Gains only.
	IPS Estimator = "ips"
	// PolicyAware subtracts β from the clicks, and divides them by the expected α of the document
	// under the logging policy (Oosterhuis & de Rijke, SIGIR 2020 and WSDM 2021; Vardasbi et al.,
	// CIKM 2020). It is unbiased if every relevant document may be shown, whatever the cutoff.
	PolicyAware Estimator = "policy-aware"
	// DR is doubly robust (Oosterhuis, TOIS 2023): a regression predicts relevance, and the
	// clicks of PolicyAware correct it. It is right if either the bias or the regression is.
	DR Estimator = "dr"

	// IIPS weighs the click on document d at rank k by P(d@k) under the target over P(d@k) under
	// the logging policy (Li et al., KDD 2018, the item-position model). It needs no bias. For
	// Evaluate only, like the next two.
	IIPS Estimator = "iips"
	// RIPS weighs a click by the probability of the ranking down to it, under the target over
	// the logging policy (McInerney et al., KDD 2020). It holds for cascades, where a click depends
	// on the documents above.
	RIPS Estimator = "rips"
	// WholeRanking weighs all clicks by the same ratio for the whole ranking. It assumes nothing about
	// clicks, but its variance is too high for all but short rankings.
	WholeRanking Estimator = "whole-ranking"
)

// An estimatorEntry describes an estimator. Names, checks and help follow from it.
type estimatorEntry struct {
	name            Estimator
	gains, evaluate bool // what it is for
	bias            bool // it needs a bias
	clip            bool // it may have a clip

	// leastSize is the smallest effective sample size at which intervals contain the true value as often as their level says; 0: any.
	leastSize float64
}

var estimatorTable = []estimatorEntry{
	{name: Naive, gains: true},
	{name: IPS, gains: true, bias: true, clip: true},
	{name: PolicyAware, gains: true, evaluate: true, bias: true, clip: true, leastSize: 100},
	{name: DR, gains: true, evaluate: true, bias: true, clip: true, leastSize: 100},
	{name: IIPS, evaluate: true, clip: true, leastSize: 100},
	{name: RIPS, evaluate: true},
	{name: WholeRanking, evaluate: true},
}

// NeedsBias reports whether an estimator needs a position bias. It is true for unknown names.
func (e Estimator) NeedsBias() bool {
	entry, _, err := e.parse(func(estimatorEntry) bool { return true })
	return err != nil || entry.bias
}

// GainEstimators returns the names that Gains knows.
func GainEstimators() []Estimator {
	return estimatorNames(func(e estimatorEntry) bool { return e.gains })
}

// ValueEstimators returns the names that Evaluate knows.
func ValueEstimators() []Estimator {
	return estimatorNames(func(e estimatorEntry) bool { return e.evaluate })
}

func estimatorNames(suits func(estimatorEntry) bool) (all []Estimator) {
	for _, e := range estimatorTable {
		if suits(e) {
			all = append(all, e.name)
		}
	}
	return all
}

// parse finds the entry of an estimator and its clip, which is negative if there is none.
func (e Estimator) parse(suits func(estimatorEntry) bool) (estimatorEntry, float64, error) {
	name, parameter, clipped := strings.Cut(string(e), "(")
	var known []string
	for _, entry := range estimatorTable {
		if !suits(entry) {
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
			return entry, 0, fmt.Errorf("clicks: invalid estimator %q: the number in brackets is the least probability, 0 to 1, for ips, "+
				"policy-aware, dr and iips alone", e)
		}
		return entry, clip, nil
	}
	return estimatorEntry{}, 0, fmt.Errorf("clicks: unknown estimator %q: %s", name, names.Want(name, known))
}
