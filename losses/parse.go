package losses

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/names"
)

// ByName returns the loss of that name, see [Names]. A parameter follows in parentheses, or has its
// default: approxndcg, gumbel-approxndcg, neuralndcg and pirank take a temperature (1), as in
// approxndcg(0.1), exposure-risk a level (0.95), prpo a ratio (0.5) and query-rmse a scale (1).
// Losses of exposure take the loss that estimates it from samples, as in disparity(plrank2). The
// error of an unknown name lists the known ones.
func ByName(name string) (Func, error) {
	t, err := lookup(name)
	if err != nil {
		return nil, fmt.Errorf("losses: %w", err)
	}
	return sum([]Term{t}), nil
}

// Parse reads a loss as [ByName] does, or a weighted sum of several, such as
//
//	plrank-exact + 0.5*disparity
//
// Blanks do not matter (except before the minus of a - 0.5*b, which may else be part
// of a name), a weight may be any finite number, and a term of weight 0 is left out. The
// terms share what they draw: the rankings that gradients are estimated from, and the
// others that exposure is estimated from. An error says at which column the text is wrong, and what
// would be right.
func Parse(text string) (Func, error) {
	terms, err := Terms(text)
	if err != nil {
		return nil, err
	}
	return sum(terms), nil
}

// Objective reads a loss as [Parse] does and returns what it minimises, to compare models by its
// value, not to be differentiated. A loss whose value estimates an exact one, or means nothing, as
// policy-gradient's, is replaced by the exact one: plrank2 by plrank-exact, disparity(plrank2) by
// disparity. Others stay as they are; if they draw noise, they still need a Sampler. For a batch
// without Batch.Logged, exposure-risk is left out, and without Batch.LoggedScores prpo is minus the
// expected metric. Objective returns the errors of Parse; its Func also returns an error if no term is
// left.
func Objective(text string) (Func, error) {
	terms, err := Terms(text)
	if err != nil {
		return nil, err
	}
	for i, t := range terms {
		terms[i] = t.exactly()
	}
	return func(b Batch) (*G.Node, error) {
		of := known(terms, b)
		if len(of) == 0 {
			return nil, fmt.Errorf("losses: %s has no value without the exposure in a log: Batch.Logged is nil", text)
		}
		return sum(of)(b)
	}, nil
}

// Terms returns the losses that Parse adds up, without terms of weight 0. It returns the errors of
// Parse.
func Terms(text string) ([]Term, error) {
	var terms []Term
	err := names.ParseSum(text, "loss", func(weight float64, rest string) (length int, err error) {
		name := namePattern.FindString(rest)
		if name == "" {
			return 0, fmt.Errorf("want a loss of %s", strings.Join(Names(), ", "))
		}
		t, err := lookup(name)
		if t.Weight = weight; weight != 0 {
			terms = append(terms, t)
		}
		if err == nil && strings.HasPrefix(rest[len(name):], "@") {
			err = errors.New("a loss has no @, as a metric has: the cutoff is the number of discounts (-cutoff)")
		}
		return len(name), err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("losses: %q, %w", text, err)
	case len(terms) == 0:
		return nil, fmt.Errorf("losses: %q: all weights are 0: nothing is left to learn from", text)
	}
	return terms, nil
}

var namePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*(\([^()]*\))?`)
