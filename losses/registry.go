package losses

import (
	"fmt"
	"slices"
	"strings"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/ops"
)

// Func builds a loss on lists whose samples come from s: a scalar node to be
// minimised, the mean over the queries that have documents.
type Func func(l ops.Lists, gains *G.Node, s *ops.Sampler, discounts []float64) (*G.Node, error)

var byName = map[string]Func{
	"plrank1":                   sampled(PLRank1),
	"plrank2":                   sampled(PLRank2),
	"plrank-rb":                 sampled(PLRankRB),
	"policy-gradient":           sampled(PolicyGradient),
	"placement-policy-gradient": sampled(PlacementPolicyGradient),
	"lambdaloss": func(l ops.Lists, gains *G.Node, s *ops.Sampler, discounts []float64) (*G.Node, error) {
		noise, err := ops.Gumbel(l, s)
		if err != nil {
			return nil, err
		}
		return LambdaLoss(l, gains, noise, discounts)
	},
}

// sampled draws the rankings that a loss needs.
func sampled(loss func(l ops.Lists, gains, rankings *G.Node, discounts []float64) (*G.Node, error)) Func {
	return func(l ops.Lists, gains *G.Node, s *ops.Sampler, discounts []float64) (*G.Node, error) {
		rankings, err := ops.Rankings(l, s)
		if err != nil {
			return nil, err
		}
		return loss(l, gains, rankings, discounts)
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
