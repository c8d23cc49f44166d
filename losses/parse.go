package losses

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/weightedsum"
	"github.com/plrank/plrank/losses/internal/lossops"
)

// Parse reads a loss as [ByName] does, or a weighted sum of several, such as
//
//	plrank-exact + 0.5*disparity
//
// Blanks do not matter (but for one before the minus of a - 0.5*b, which may else be part
// of a name), a weight may be any finite number, and a term of weight 0 is left out. The terms share what they draw: the rankings that gradients are estimated
// from, and the others that exposure is. An error says at which column the text is
// wrong, and what would be right.
func Parse(text string) (Func, error) {
	terms, err := parseTerms(text)
	if err != nil {
		return nil, err
	}
	return sum(terms), nil
}

// A Term is one loss of a weighted sum.
type Term struct {
	Loss   string  // its name
	Weight float64 // the factor before it
	// Measure is the name of the measure of fairness that the loss is about, as
	// metrics.ParseMeasure reads it: disparity for disparity(plrank2). "": of none.
	Measure string
	// Sampled tells whether the loss draws rankings or noise, as many as the Sampler of
	// the batch says. ListMLE, which draws one order of documents of equal gain, does not.
	Sampled bool
	// LabelFree tells whether the loss learns from queries without a document of gain, too:
	// those by labels alone take a label of 0 as they take any other, and ee-l and
	// group-exposure want exposure to be shared whatever the labels are. For all others such a
	// query has the loss 0 and no gradient.
	LabelFree bool

	build  builder
	family family
}

// Terms are the losses of which Parse makes the sum: those of weight 0 are not among
// them. Errors are those of Parse.
func Terms(text string) ([]Term, error) {
	terms, err := parseTerms(text)
	return slices.DeleteFunc(terms, func(t Term) bool { return t.Weight == 0 }), err
}

var namePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*(\([^()]*\))?`)

func parseTerms(text string) (terms []Term, err error) {
	counts := false
	err = weightedsum.Parse(text, "loss", func(weight float64, rest string) (length int, err error) {
		name := namePattern.FindString(rest)
		if name == "" {
			return 0, fmt.Errorf("want a loss of %s", strings.Join(Names(), ", "))
		}
		t, err := lookup(name)
		t.Weight = weight
		terms = append(terms, t)
		counts = counts || weight != 0
		return len(name), err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("losses: %q, %w", text, err)
	case !counts:
		return nil, fmt.Errorf("losses: %q: all weights are 0: nothing is left to learn from", text)
	}
	return terms, nil
}

// sum is the mean over queries of the weighted sum of the terms.
func sum(terms []Term) Func {
	return func(given Batch) (loss *G.Node, err error) {
		defer caught(&err)
		b, err := newBatch(given, terms)
		if err != nil {
			return nil, fmt.Errorf("losses: %s: %w", terms[0].Loss, err)
		}
		var perQuery *G.Node
		for _, t := range terms {
			if t.Weight == 0 {
				continue
			}
			of, err := t.build(b)
			if err != nil {
				return nil, fmt.Errorf("losses: %s: %w", t.Loss, err)
			}
			if t.Weight != 1 {
				of = scaled(b.Lists, of, t.Weight)
			}
			if perQuery == nil {
				perQuery = of
			} else {
				perQuery = add(perQuery, of)
			}
		}
		if loss, err = b.mean(perQuery); err != nil {
			return nil, fmt.Errorf("losses: %w", err)
		}
		return loss, nil
	}
}

// scale is that of the loss, see [lossops.InRange].
func (t Term) scale(b *batch) lossops.Scale {
	s := lossops.Scale{What: "gain", Of: b.Gains, Degree: t.family.degree, Factor: t.Weight}
	switch {
	case t.family.ungained:
		s.Of = nil
	case t.family.labels:
		s.What, s.Of = "document weight", b.DocumentWeights
	}
	return s
}
