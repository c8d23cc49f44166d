package transforms

import (
	"fmt"
	"slices"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/transforms/internal/columns"
)

// MostBins bounds the bins of a feature.
const MostBins = 126

// Bins divides the values of one output of a transform at knots.
type Bins struct {
	Knots   []float32 // ascending
	Missing bool      // a bin below all others is for documents that have no value
}

// first is the position of the first knot.
func (b *Bins) first() float32 {
	if b.Missing {
		return 1
	}
	return 0
}

// Count returns the number of bins, 1 or more.
func (b *Bins) Count() int { return max(1, len(b.Knots)-1+int(b.first())) }

// AtMissing returns the position of a missing value: its own bin, or the middle if training data had all values.
func (b *Bins) AtMissing() float32 {
	if b.Missing {
		return 0
	}
	return float32(len(b.Knots)-1) / 2
}

// Positions returns the positions of the knots.
func (b *Bins) Positions() (at []float32) {
	for k := range b.Knots {
		at = append(at, b.first()+float32(k))
	}
	return at
}

// FitBins divides the outputs of the parts into bins: from then on, the outputs are positions in these. The knots between bins
// are quantiles of the outputs for up to 32768 random training documents. If all documents together have no more values than
// knots, each value is a knot: a feature of two values has one bin. The integer part of a position is the number of knots
// passed, and the fraction, a multiple of 2^−16, the part of the way to the next one. Values beyond the outer knots have the
// position of the knot. If a training document misses the value, there is one more bin, at position 0, and the first knot is
// at 1.
//
// Codes of categorical features stay as they are. FitBins returns an error unless there are 1 to 125 bins.
func (t *Transform) FitBins(train *Data, bins int) error {
	if bins < 1 || bins >= MostBins {
		return fmt.Errorf("transforms: %d bins: want 1 to %d", bins, MostBins-1)
	}
	t.Bins, t.positions = nil, nil // the values are of what the parts give
	gaps := withGaps(train, t.Columns)
	fitted := make([]Bins, t.outputs())
	in := &input{train, t.outputColumns(), t.Width(), t.ComparesDocuments(), t.Query}
	values := in.counts(bins + 1)
	for i, column := range in.columns {
		_, missing := slices.BinarySearch(gaps, column)
		fitted[i] = Bins{quantiles(values[i], bins), missing}
	}
	t.Bins, t.positions = fitted, newPositions(fitted)
	return nil
}

// outputColumns returns the raw column of each output of the parts.
func (t *Transform) outputColumns() (columns []int) {
	for p := range t.Parts {
		columns = append(columns, t.PartColumns(p)...)
	}
	return columns
}

// quantiles are at most bins + 1 of the values: all that there are, or those at evenly spaced ranks.
func quantiles(c num.Counts, bins int) (knots []float32) {
	if len(c.Values) == 0 {
		return []float32{0}
	}
	if len(c.Values) <= bins+1 {
		return c.Values
	}
	last, i, upTo := c.Sum()-1, 0, c.Documents[0]
	for k := range bins + 1 {
		for ; upTo <= k*last/bins; upTo += c.Documents[i] {
			i++
		}
		knots = append(knots, c.Values[i])
	}
	return slices.Compact(knots)
}

func newPositions(bins []Bins) *columns.Lookups {
	var knots, positions [][]float32
	var missing []float32
	for i := range bins {
		b := &bins[i]
		knots, positions, missing = append(knots, b.Knots), append(positions, b.Positions()), append(missing, b.AtMissing())
	}
	return columns.NewLookups(knots, positions, missing)
}

// BinCounts returns the number of bins of each output, nil before FitBins.
func (t *Transform) BinCounts() (counts []int) {
	for i := range t.Bins {
		counts = append(counts, t.Bins[i].Count())
	}
	return counts
}

// applyBins replaces what the parts gave for the rows of a query by positions.
func (t *Transform) applyBins(dst, rows []float32) {
	p := t.positions
	if p == nil { // not fitted, and not validated
		p = newPositions(t.Bins)
	}
	at := 0
	for i := range t.Parts {
		keepMissing(dst[at:], rows, t.PartColumns(i), t.Width(), t.Inputs)
		at += len(t.PartColumns(i))
	}
	p.Positions(dst, t.Width())
}

// checkBins checks bins that were read from a file, and prepares them.
func (t *Transform) checkBins() error {
	if t.Bins == nil {
		return nil
	}
	if len(t.Bins) != t.outputs() {
		return fmt.Errorf("bins of %d outputs, want %d", len(t.Bins), t.outputs())
	}
	for i := range t.Bins {
		b := &t.Bins[i]
		if len(b.Knots) == 0 || b.Count() > MostBins {
			return fmt.Errorf("%d knots of output %d, want 1 to %d", len(b.Knots), i, MostBins)
		}
		for k, v := range b.Knots {
			if columns.Finite(v) != v || k > 0 && v <= b.Knots[k-1] {
				return fmt.Errorf("the knots of output %d must ascend and be finite", i)
			}
		}
	}
	if t.positions == nil { // a transform that is ready is only read, as by many at a time
		t.positions = newPositions(t.Bins)
	}
	return nil
}
