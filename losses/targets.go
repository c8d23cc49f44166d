package losses

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/op"
	"github.com/plrank/plrank/ops"
)

// A Target asks for a share of the expected exposure for a group of documents.
type Target struct {
	Group      int
	Least      float64 // share of the exposure of all documents of a query
	Multiplier float64 // of what the share lacks, see [Targets]
}

// Targets returns the loss Σ_t μ_t (least_t − Σ_{d∈g_t} E_d / Σ_k θ_k), with multipliers μ and the exact expected exposure E
// (docs/exact.md, 1): what targets add to a Lagrangian.
//
// Ranks k run up to the number of documents. A run reads the multipliers, which may change between runs. It reads Groups and
// Discounts; labels and weights of documents do not count.
func Targets(list []Target) Objective {
	o := Objective{LabelFree: true, labels: true, weights: unweighted}
	o.graph = func(b *batch) *G.Node {
		l := b.Lists
		f := op.ListFunc{
			Name: "losses: TargetGains", Settings: fmt.Sprint("targets ", op.NewID()),
			Do: func(l *op.List) error {
				out := l.Out()
				floats.AddConst(-targetGains(list, l.Ints[1], l.Discounts, out), out)
				return nil
			},
		}
		gains := G.Must(f.Apply(l, op.AnyRows("scores", l.Scores), op.RowInts("groups", b.groups()), op.Discounts(b.discounts())))
		return neg(G.Must(ops.ExpectedMetric(l, gains, b.discounts())))
	}
	o.curvature = func(q *query, out []float64) error {
		gains := make([]float64, len(q.groups))
		targetGains(list, q.groups, q.discounts, gains)
		_, err := q.expectation.Curvature(q.scores, gains, q.discounts, make([]float64, len(out)), out)
		return err
	}
	return o
}

// targetGains adds to gains what makes Σ_t μ_t share_t an expected metric, and returns the gain for all documents that makes it
// Σ_t μ_t least_t.
func targetGains(list []Target, groups []int, discounts, gains []float64) (least float64) {
	all := floats.Sum(discounts[:min(len(discounts), len(groups))])
	for _, t := range list {
		least += t.Multiplier * t.Least / all
		for d, g := range groups {
			if g == t.Group {
				gains[d] += t.Multiplier / all
			}
		}
	}
	return least
}
