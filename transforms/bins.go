package transforms

import (
	"fmt"
	"math"
	"slices"

	"github.com/viterin/vek/vek32"

	"github.com/plrank/plrank/internal/memory"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/transforms/internal/columns"
)

// MostBins is the number of bins of a feature at most.
const MostBins = 126

// Bins divide the values of one output of a transform's parts at knots.
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

// Count is the number of bins, 1 or more.
func (b *Bins) Count() int { return max(1, len(b.Knots)-1+int(b.first())) }

// AtMissing is the position of a document that has no value: that bin, or the middle where training data
// have all values.
func (b *Bins) AtMissing() float32 {
	if b.Missing {
		return 0
	}
	return float32(len(b.Knots)-1) / 2
}

// Positions are the positions of the knots.
func (b *Bins) Positions() (at []float32) {
	for k := range b.Knots {
		at = append(at, b.first()+float32(k))
	}
	return at
}

// FitBins has the transform give positions in a number of bins, instead of numbers: the knots between the
// bins are the quantiles of what the parts give for training documents, evenly spread and 32768 of them
// at most, unless all values are the same; or their values if these are few, so that a feature of two
// values has one bin. The whole part of a
// position is how many knots are passed, and the rest, a multiple of 2^−16, how far it is to the
// next one; beyond the outer knots it is the position of the knot. Where a training document misses the
// value, there is one more bin, whose position is 0, and the first knot is at 1.
//
// Codes of categorical features stay as they are. Fewer than 1 or more than 125 bins are an error.
func (t *Transform) FitBins(train *Data, bins int) error {
	if bins < 1 || bins >= MostBins {
		return fmt.Errorf("transforms: %d bins: want 1 to %d", bins, MostBins-1)
	}
	t.Bins, t.positions = nil, nil // the sample is of what the parts give
	columns, gaps := t.outputColumns(), withGaps(train, t.Columns)
	fitted := make([]Bins, len(columns))
	fit := func(step int) {
		values := t.sample(train, columns, step, func(i int) bool { return len(fitted[i].Knots) < 2 })
		memory.For(len(columns), func(i int) {
			if values[i] != nil {
				slices.Sort(values[i])
				fitted[i] = Bins{quantiles(values[i], bins), slices.Contains(gaps, columns[i])}
			}
		})
	}
	step := max(1, (train.Rows()+quantileSample-1)/quantileSample)
	fit(step)
	// What is the same in the sample may be another in few documents.
	if step > 1 && slices.ContainsFunc(fitted, func(b Bins) bool { return len(b.Knots) < 2 }) {
		fit(1)
	}
	t.Bins, t.positions = fitted, newPositions(fitted)
	return nil
}

// outputColumns are the raw columns that the outputs of the parts are made of.
func (t *Transform) outputColumns() (columns []int) {
	for p := range t.Parts {
		columns = append(columns, t.PartColumns(p)...)
	}
	return columns
}

// sample is what the parts give for every step-th training document that has a value, by output; nil for outputs that are
// not wanted. Their raw columns are given.
func (t *Transform) sample(train *Data, columns []int, step int, wanted func(output int) bool) [][]float32 {
	values := make([][]float32, len(columns))
	for i := range values {
		if wanted(i) {
			values[i] = make([]float32, 0, train.Rows()/step+1)
		}
	}
	width := t.Width()
	var room []float32
	for q := range train.Queries() {
		from, to := train.Offsets[q], train.Offsets[q+1]
		first := (from + step - 1) / step * step
		if first >= to {
			continue
		}
		room = num.Sized(room, (to-from)*width)
		t.Query(room, train.Features[from*t.Inputs:to*t.Inputs])
		for r := first; r < to; r += step {
			for i, column := range columns {
				if x := train.Row(r)[column]; x == x && values[i] != nil {
					values[i] = append(values[i], room[(r-from)*width+i])
				}
			}
		}
	}
	return values
}

// quantiles are at most bins + 1 of the values: all that there are, or those at evenly spaced ranks.
func quantiles(sorted []float32, bins int) []float32 {
	if len(sorted) == 0 {
		return []float32{0}
	}
	knots := slices.Compact(slices.Clone(sorted))
	if len(knots) > bins+1 {
		knots = knots[:0]
		for k := range bins + 1 {
			knots = append(knots, sorted[k*(len(sorted)-1)/bins])
		}
		knots = slices.Compact(knots)
	}
	return slices.Clone(knots)
}

func newPositions(bins []Bins) *columns.Positions {
	var knots [][]float32
	var first, missing []float32
	for i := range bins {
		b := &bins[i]
		knots, first, missing = append(knots, b.Knots), append(first, b.first()), append(missing, b.AtMissing())
	}
	return columns.NewPositions(knots, first, missing)
}

// BinCounts are the numbers of bins of the outputs, nil if these are no positions.
func (t *Transform) BinCounts() (counts []int) {
	for i := range t.Bins {
		counts = append(counts, t.Bins[i].Count())
	}
	return counts
}

// applyBins replaces what the parts gave for the rows of a query by positions.
func (t *Transform) applyBins(dst, rows []float32) {
	p, width := t.positions, t.Width()
	if p == nil { // not fitted, and not validated
		p = newPositions(t.Bins)
	}
	if sum := vek32.Sum(rows); sum != sum {
		for r := range len(dst) / width {
			i := 0
			for p := range t.Parts {
				for _, column := range t.PartColumns(p) {
					if x := rows[r*t.Inputs+column]; x != x {
						dst[r*width+i] = float32(math.NaN())
					}
					i++
				}
			}
		}
	}
	p.Map(dst, width)
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
