package losses

import (
	"fmt"
	"slices"
	"strings"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/ops"
)

// Batch is what a loss is built on: lists of one graph, and what is known of them.
type Batch struct {
	Lists     ops.Lists
	Gains     *G.Node      // [rows], of the dtype of the scores: ρ of the metric
	Sampler   *ops.Sampler // of the rankings, or the noise, that the gradient is estimated from
	Discounts []float64    // θ of the metric, as many as its cutoff
}

// Func builds a loss: a scalar node to be minimised, the mean over the queries
// that have documents.
type Func func(Batch) (*G.Node, error)

var byName = map[string]Func{
	"plrank1":                   sampled(PLRank1),
	"plrank2":                   sampled(PLRank2),
	"plrank-rb":                 sampled(PLRankRB),
	"policy-gradient":           sampled(PolicyGradient),
	"placement-policy-gradient": sampled(PlacementPolicyGradient),
	"lambdaloss":                perturbed(LambdaLoss),
}

// A builder makes a loss from lists, gains, rankings or noise, and discounts.
type builder func(l ops.Lists, gains, drawn *G.Node, discounts []float64) (*G.Node, error)

// sampled draws the rankings that a loss needs.
func sampled(loss builder) Func { return drawing(ops.Rankings, loss) }

// perturbed draws the noise that a loss needs.
func perturbed(loss builder) Func { return drawing(ops.Gumbel, loss) }

func drawing(draw func(ops.Lists, *ops.Sampler) (*G.Node, error), loss builder) Func {
	return func(b Batch) (*G.Node, error) {
		drawn, err := draw(b.Lists, b.Sampler)
		if err != nil {
			return nil, err
		}
		return loss(b.Lists, b.Gains, drawn, b.Discounts)
	}
}

// ByName returns the loss of that name. A name that is not known is an error that
// lists those that are.
func ByName(name string) (Func, error) {
	if f, ok := byName[name]; ok {
		return f, nil
	}
	return nil, fmt.Errorf("losses: no loss %q: want one of %s", name, strings.Join(Names(), ", "))
}

// Names returns the names of all losses, in alphabetical order.
func Names() []string {
	names := make([]string, 0, len(byName))
	for name := range byName {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
