package losses

import (
	G "gorgonia.org/gorgonia"
)

// TargetExposure is the exposure by the best policy.
var TargetExposure = targetExposure

// OnExposure is the mean of a fairness loss on a given exposure of the documents.
func OnExposure(name string, given Batch, exposure *G.Node) (*G.Node, error) {
	return Mean(func(given Batch) (_ *G.Node, err error) {
		defer caught(&err)
		e, _ := find(name)
		b := &batch{Batch: given, exactExposure: exposure}
		b.checkRows("exposures", exposure)
		return e.build(b), nil
	}, given)
}

// Pointwise reports whether a loss goes by the scores of single documents, not only by their differences.
func Pointwise(name string) bool {
	e, _ := find(name)
	return e.target == byLabels && e.weights == ofTerms
}

// WeightsOf says what the weights of documents multiply in a loss: "policy", "copies", "pairs",
// "ranks", "terms" or "nothing".
func WeightsOf(name string) string {
	t, err := lookup(name)
	if err != nil {
		panic(err)
	}
	return [...]string{ofPolicy: "policy", ofPairs: "pairs", ofRanks: "ranks", ofCopies: "copies", ofTerms: "terms", unweighted: "nothing"}[t.entry.weights]
}

// EntryNames are the names of the rows of the table.
func EntryNames() (all []string) {
	for _, e := range table {
		all = append(all, e.name)
	}
	return all
}

// ExactOf is the loss whose value a loss of the table estimates, or its own name.
func ExactOf(name string) string { return MustTerms(name)[0].curved() }

// KindOfCurvature says what the curvature of a loss is.
func KindOfCurvature(name string) string {
	return [...]string{secondDerivative: "second derivative", bound: "bound", size: "size"}[curvatures[name].is]
}

// MustTerms is Terms without an error.
func MustTerms(text string) []Term {
	terms, err := Terms(text)
	if err != nil {
		panic(err)
	}
	return terms
}
