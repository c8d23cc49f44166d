package losses

import (
	"fmt"
	"regexp"
	"strings"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/names"
)

// ByName returns the loss of that name, see [Names]. approxndcg, gumbel-approxndcg,
// neuralndcg and pirank may have their temperature behind them, approxndcg(0.1), 1 where
// they do not; exposure-risk its level, 0.95; prpo its ratio, 0.5; and query-rmse its scale, 1.
// Losses of exposure may have the loss behind them by whose samples it is estimated, such as
// disparity(plrank2). A name that is not known is an error that lists those that are.
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
// Blanks do not matter (but for one before the minus of a - 0.5*b, which may else be part
// of a name), a weight may be any finite number, and a term of weight 0 is left out. The
// terms share what they draw: the rankings that gradients are estimated from, and the
// others that exposure is. An error says at which column the text is wrong, and what would
// be right.
func Parse(text string) (Func, error) {
	terms, err := Terms(text)
	if err != nil {
		return nil, err
	}
	return sum(terms), nil
}

// Objective reads a loss as [Parse] does, and gives what it minimises, by its value: the
// losses whose value is an estimate of an exact one, or like that of policy-gradient means
// nothing, are replaced by that one, plrank2 by plrank-exact and disparity(plrank2) by
// disparity. Others are themselves, and those that draw noise need a Sampler still. Of a batch
// without Batch.Logged, exposure-risk is left out, and without Batch.LoggedScores prpo is minus the
// expected metric. It is to
// compare models with, not to be differentiated. Errors are those of Parse, and those of the Func
// of a loss of which nothing is left.
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

// Terms are the losses of which Parse makes the sum: those of weight 0 are not among
// them. Errors are those of Parse.
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
