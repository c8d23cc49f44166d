package datasets

import (
	"fmt"
	"math"
	"slices"
)

const (
	quantileKnots  = 128     // at most, for a feature
	mostKnots      = 255     // in files: a lookup counts them in bytes
	quantileSample = 1 << 15 // documents at most, spread evenly over the training data
)

// Curves are numbers by column. They are most of a model file, and their JSON is read much
// faster than that of other slices.
type Curves [][]float32

// UnmarshalJSON reads arrays of arrays of numbers; null is nil.
func (c *Curves) UnmarshalJSON(text []byte) error {
	*c = nil
	depth := 0
	for at := 0; at < len(text); {
		switch b := text[at]; {
		case b == '[':
			if depth++; depth == 1 {
				*c = Curves{}
			} else {
				*c = append(*c, nil)
			}
			at++
		case b == ']':
			depth--
			at++
		case b == '-' || b-'0' <= 9:
			v, n, err := parseFloat32(text[at:])
			if err != nil || depth != 2 {
				return fmt.Errorf("datasets: numbers by column: %s", quote(text[at:]))
			}
			last := len(*c) - 1
			(*c)[last] = append((*c)[last], v)
			at += n
		case b == ',' || b == ' ' || b == '\t' || b == '\r' || b == '\n':
			at++
		case string(text) == "null":
			return nil
		default:
			return fmt.Errorf("datasets: numbers by column: %s", quote(text[at:]))
		}
	}
	return nil
}

// fitQuantile finds for each column values, ascending, and the normal scores of
// their mid-ranks among the training documents: Φ⁻¹ of the part that lies below
// plus half the part that is equal.
func fitQuantile(p *TransformPart, train *Dataset, columns []int, _ Sharing) {
	p.Knots = make(Curves, len(columns))
	p.Scores = make(Curves, len(columns))
	rows := min(train.Rows(), quantileSample)
	parallel(len(columns), func(i int) {
		values := make([]float32, 0, rows)
		for s := range rows {
			if x := train.Row(s * train.Rows() / rows)[columns[i]]; x == x {
				values = append(values, finite(x))
			}
		}
		slices.Sort(values)
		p.Knots[i], p.Scores[i] = normalScores(values)
	})
	p.lookups = newLookups(p.Knots, p.Scores)
}

// normalScores picks the distinct values where they are few, else those at
// evenly spaced ranks.
func normalScores(sorted []float32) (knots, scores []float32) {
	distinct := slices.Compact(slices.Clone(sorted))
	if len(distinct) > quantileKnots {
		picked := make([]float32, 0, quantileKnots)
		for k := range quantileKnots {
			picked = append(picked, sorted[k*(len(sorted)-1)/(quantileKnots-1)])
		}
		distinct = slices.Compact(picked)
	}
	if len(distinct) == 0 { // always missing in the sample
		return []float32{0}, []float32{0}
	}
	scores = make([]float32, len(distinct))
	for k, v := range distinct {
		below, _ := slices.BinarySearch(sorted, v)
		upTo, _ := slices.BinarySearch(sorted, math.Nextafter32(v, float32(math.Inf(1))))
		rank := (float64(below) + float64(upTo)) / 2 / float64(len(sorted))
		scores[k] = float32(math.Sqrt2 * math.Erfinv(2*rank-1))
	}
	return distinct, scores
}

// validateQuantile checks knots and scores read from a file.
func (p *TransformPart) validateQuantile(columns int) error {
	if len(p.Knots) != columns || len(p.Scores) != columns {
		return fmt.Errorf("want knots and scores for %d columns, have %d and %d", columns, len(p.Knots), len(p.Scores))
	}
	for i, knots := range p.Knots {
		if len(knots) == 0 || len(knots) != len(p.Scores[i]) {
			return fmt.Errorf("%d knots and %d scores for column %d", len(knots), len(p.Scores[i]), i)
		}
		if len(knots) > mostKnots {
			return fmt.Errorf("%d knots for column %d, want %d at most", len(knots), i, mostKnots)
		}
		for k, v := range knots {
			if finite(v) != v || finite(p.Scores[i][k]) != p.Scores[i][k] || k > 0 && v <= knots[k-1] {
				return fmt.Errorf("the knots of column %d must ascend and be finite", i)
			}
		}
	}
	return nil
}
