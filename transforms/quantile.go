package transforms

import (
	"fmt"
	"math"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/transforms/internal/columns"
)

const quantileKnots = 128 // at most, for a feature

// fitQuantile finds for each column values, ascending, and the normal scores of
// their mid-ranks among the training documents: Φ⁻¹ of the fraction that is
// lower plus half the fraction that is equal.
func fitQuantile(p *Part, train *Data, used []int) {
	in := &input{train, used, len(used), false, func(dst, rows []float32) {
		columns.None(columns.Rows{To: dst, Stride: len(used), From: rows, Inputs: train.Width(), Columns: used})
	}}
	values := in.counts(quantileKnots)
	p.Knots, p.Scores = make([][]float32, len(used)), make([][]float32, len(used))
	for i := range used {
		p.Knots[i], p.Scores[i] = normalScores(values[i])
	}
	p.lookups = columns.NewLookups(p.Knots, p.Scores, nil)
}

// normalScores picks the distinct values if they are few, else those at evenly spaced ranks.
func normalScores(c num.Counts) (knots, scores []float32) {
	knots = quantiles(c, quantileKnots-1)
	if len(c.Values) == 0 { // always missing
		return knots, []float32{0}
	}
	all, below, i := c.Sum(), 0, 0
	for _, v := range knots {
		for ; c.Values[i] < v; i++ {
			below += c.Documents[i]
		}
		rank := (float64(below) + float64(c.Documents[i])/2) / float64(all)
		scores = append(scores, float32(math.Sqrt2*math.Erfinv(2*rank-1)))
	}
	return knots, scores
}

func applyQuantile(p *Part, q columns.Rows) {
	l := p.lookups
	if l == nil { // not fitted, and not validated
		l = columns.NewLookups(p.Knots, p.Scores, nil)
	}
	l.Map(q)
}

// checkQuantile checks knots and scores read from a file, and prepares them.
func checkQuantile(p *Part, used int) error {
	if len(p.Knots) != used || len(p.Scores) != used {
		return fmt.Errorf("want knots and scores for %d columns, have %d and %d", used, len(p.Knots), len(p.Scores))
	}
	for i, knots := range p.Knots {
		if len(knots) == 0 || len(knots) != len(p.Scores[i]) {
			return fmt.Errorf("%d knots and %d scores for column %d", len(knots), len(p.Scores[i]), i)
		}
		if len(knots) > columns.MostKnots {
			return fmt.Errorf("%d knots for column %d, want %d at most", len(knots), i, columns.MostKnots)
		}
		for k, v := range knots {
			if columns.Finite(v) != v || columns.Finite(p.Scores[i][k]) != p.Scores[i][k] || k > 0 && v <= knots[k-1] {
				return fmt.Errorf("the knots of column %d must ascend and be finite", i)
			}
		}
	}
	if p.lookups == nil { // a fitted part keeps its lookups: it may be in use, and validated again when it is written
		p.lookups = columns.NewLookups(p.Knots, p.Scores, nil)
	}
	return nil
}
