package losses

import (
	"slices"
	"strings"

	G "gorgonia.org/gorgonia"
)

// TargetExposure is the exposure by the best policy.
var TargetExposure = targetExposure

// OnExposure is the mean of a fairness loss on a given exposure of the documents.
func OnExposure(name string, given Batch, exposure *G.Node) (*G.Node, error) {
	return Mean(func(given Batch) (_ *G.Node, err error) {
		defer caught(&err)
		b := &batch{Batch: given}
		b.exposures[ExactExposure] = exposure
		b.checkRows("exposures", exposure)
		return table[name].graph(b), nil
	}, given)
}

// Pointwise reports whether a loss goes by the scores of single documents, not only by their differences.
func Pointwise(name string) bool {
	o := MustTerms(name)[0]
	return o.labels && o.weights == ofTerms
}

// WeightsOf says what the weights of documents multiply in a loss: "policy", "copies", "pairs",
// "ranks", "terms" or "nothing".
func WeightsOf(name string) string {
	t, err := lookup(name)
	if err != nil {
		panic(err)
	}
	return [...]string{ofPolicy: "policy", ofPairs: "pairs", ofRanks: "ranks", ofCopies: "copies", ofTerms: "terms", unweighted: "nothing"}[t.weights]
}

// EntryNames are the names of the table without a loss for parameter.
func EntryNames() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return strings.Contains(name, "(") })
}

// ExactOf is the loss whose value a loss of the table estimates, or its own name.
func ExactOf(name string) string {
	if MustTerms(name)[0].exact != nil {
		return "plrank-exact"
	}
	return name
}

// KindOfCurvature says what the curvature of a loss is.
func KindOfCurvature(name string) string {
	switch o := MustTerms(name)[0]; {
	case name == "lambdaloss" || name == "listmle":
		return "size"
	case o.weights == ofPolicy || strings.HasPrefix(name, "query-rmse"):
		return "bound"
	}
	return "second derivative"
}

// MustTerms is Terms without an error.
func MustTerms(text string) []Term {
	terms, err := Terms(text)
	if err != nil {
		panic(err)
	}
	return terms
}
