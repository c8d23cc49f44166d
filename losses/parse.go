package losses

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/names"
)

// Parse reads a loss: a name of [Names], or a weighted sum of several, such as
//
//	plrank-rb + 0.5*disparity
//
// Blanks do not matter, a weight may be any finite number, and a term of weight 0 is
// left out. The terms share what they draw: the rankings that gradients are estimated
// from, and the others that exposure is. An error says at which column the text is
// wrong, and what would be right.
func Parse(text string) (Func, error) {
	terms, err := parseTerms(text)
	if err != nil {
		return nil, err
	}
	return func(b Batch) (*G.Node, error) { return weightedSum(terms, &batch{Batch: b}) }, nil
}

// Terms are the names of the losses of which Parse makes the sum: those of weight 0
// are not among them. Errors are those of Parse.
func Terms(text string) ([]string, error) {
	terms, err := parseTerms(text)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range terms {
		if t.weight != 0 && !slices.Contains(names, t.name) {
			names = append(names, t.name)
		}
	}
	return names, nil
}

// A term of a weighted sum.
type term struct {
	name   string
	weight float64
}

var (
	weightPattern = regexp.MustCompile(`^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?`)
	namePattern   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*(\([A-Za-z0-9_-]*\))?`)
)

func parseTerms(text string) ([]term, error) {
	rest := text
	skip := func(n int) { rest = strings.TrimLeft(rest[n:], " \t") }
	fault := func(format string, args ...any) error {
		return fmt.Errorf("losses: %q, column %d: %s", text, len(text)-len(rest)+1, fmt.Sprintf(format, args...))
	}
	skip(0)
	var terms []term
	counts := false
	for {
		t := term{weight: 1}
		if number := weightPattern.FindString(rest); number != "" {
			var err error
			if t.weight, err = strconv.ParseFloat(number, 64); err != nil || math.IsInf(t.weight, 0) {
				return nil, fault("the weight %s is out of range", number)
			}
			skip(len(number))
			if !strings.HasPrefix(rest, "*") {
				return nil, fault("want * and a loss after the weight %s", number)
			}
			skip(1)
		}
		t.name = namePattern.FindString(rest)
		if _, ok := byName[t.name]; !ok {
			if t.name == "" {
				return nil, fault("want a loss of %s", strings.Join(Names(), ", "))
			}
			return nil, fault("no loss %q: %s", t.name, names.Want(t.name, Names()))
		}
		skip(len(t.name))
		terms = append(terms, t)
		counts = counts || t.weight != 0
		if rest == "" {
			break
		}
		if !strings.HasPrefix(rest, "+") {
			return nil, fault("want + and another term, such as +0.5*disparity, or the end")
		}
		skip(1)
	}
	if !counts {
		return nil, fmt.Errorf("losses: %q: all weights are 0: nothing is left to learn from", text)
	}
	return terms, nil
}

func weightedSum(terms []term, b *batch) (sum *G.Node, err error) {
	defer caught(&err)
	for _, t := range terms {
		if t.weight == 0 {
			continue
		}
		loss, err := byName[t.name].build(t.name, b)
		if err != nil {
			return nil, err
		}
		if t.weight != 1 {
			loss = scaled(b.Lists, loss, t.weight)
		}
		if sum == nil {
			sum = loss
		} else {
			sum = add(sum, loss)
		}
	}
	return sum, nil
}
