package losses

import (
	"errors"
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/metrics"
)

// A Term is one loss of a weighted sum.
type Term struct {
	Objective
	Loss   string  // its name
	Weight float64 // the factor before it
}

// Curvature adds the curvature of the term to out, see [Objective.Curvature]. A negative weight counts by its absolute value.
func (t Term) Curvature(in metrics.Queries, out []float64) (known bool, err error) {
	return t.addCurvature(in, math.Abs(t.Weight), out)
}

// Build builds the weighted loss of every query.
func (t Term) Build(b Batch) (*G.Node, error) { return sum([]Term{t})(b) }

// Mean builds the mean of the weighted loss over queries.
func (t Term) Mean(b Batch) (*G.Node, error) { return Mean(t.Build, b) }

// known drops terms whose log data the batch lacks, or replaces them by a loss that needs no log: without a log there is no
// policy to stay near to.
func known(terms []Term, b Batch) (kept []Term) {
	for _, t := range terms {
		if t.Logged && b.Logged == nil || t.LoggedScores && b.LoggedScores == nil {
			if t.unlogged == nil {
				continue
			}
			t.Objective = *t.unlogged
		}
		kept = append(kept, t)
	}
	return kept
}

// on builds the weighted loss of every query.
func (t Term) on(b *batch) (perQuery *G.Node, err error) {
	switch {
	case t.err != nil:
		return nil, t.err
	case t.graph == nil:
		return nil, errors.New("no loss: it is the zero Objective")
	}
	defer caught(&err)
	b.factor = math.Abs(t.Weight)
	policy := b
	if t.weights == ofPolicy {
		policy = b.weighted()
	}
	perQuery = t.graph(policy)
	if b.meanWeights != nil {
		perQuery = mul(perQuery, b.meanWeights)
	}
	if t.Weight != 1 {
		perQuery = scaled(perQuery, t.Weight)
	}
	return perQuery, nil
}

// scale returns the size of the loss, for inRange.
func (t Term) scale(b *batch) scale {
	s := scale{factor: t.Weight}
	if !t.labels && b.Gains != nil {
		s.powers = append(s.powers, power{"gain", b.Gains, t.degree})
	}
	if b.given != nil {
		s.powers = append(s.powers, power{"document weight", b.given, 1})
	}
	return s
}

// failed adds the name of the term to an error.
func (t Term) failed(err error) error {
	if t.Loss == "" {
		return fmt.Errorf("losses: %w", err)
	}
	return fmt.Errorf("losses: %s: %w", t.Loss, err)
}

// sum returns the weighted sum of terms.
func sum(terms []Term) Func {
	return func(given Batch) (perQuery *G.Node, err error) {
		b, err := prepare(given)
		if err == nil {
			var scales []scale
			for _, t := range terms {
				scales = append(scales, t.scale(b))
			}
			b.Lists.Scores, err = inRange(b.Lists, b.QueryWeights, scales)
		}
		if err != nil {
			return nil, terms[0].failed(err)
		}
		for _, t := range terms {
			loss, err := t.on(b)
			if err == nil && perQuery != nil {
				loss, err = G.Add(perQuery, loss)
			}
			if err != nil {
				return nil, t.failed(err)
			}
			perQuery = loss
		}
		return perQuery, nil
	}
}
