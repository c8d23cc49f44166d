package columns

import (
	"math"
	"slices"
)

// MinMax maps the least value of a column in the query to 0, the greatest to 1, and those
// between linearly; missing ones to 0, and all to 0 if they are equal.
func MinMax(q Rows) {
	switch {
	case len(q.From) == q.Inputs: // a document alone
		clear(q.To[:len(q.Columns)])
	case wide:
		minMaxWide(q.To, q.Columns, q)
	default:
		minMaxNarrow(q)
	}
}

// minMaxWide goes through the inputs in blocks, whose minima and maxima fit the stack.
func minMaxWide(dst []float32, columns []int, q Rows) {
	rows, inputs, stride := q.From, q.Inputs, q.Stride
	const block = 256
	n := len(rows) / inputs
	for first := 0; first < inputs && len(columns) > 0; first += block {
		end := min(first+block, inputs)
		var lows, highs [block]float32
		var low, scale [block]float64
		columnLimits(&lows[0], &highs[0], &rows[first], inputs, n, end-first)
		here, _ := slices.BinarySearch(columns, end)
		for i, c := range columns[:here] {
			low[i], scale[i] = minMaxScale(lows[c-first], highs[c-first])
		}
		for r := 0; r < n && here > 0; r++ {
			minMaxRow(&dst[r*stride], &rows[r*inputs], &columns[0], &low[0], &scale[0], here)
		}
		columns, dst = columns[here:], dst[here:]
	}
}

func minMaxNarrow(q Rows) {
	dst, rows, inputs, stride := q.To, q.From, q.Inputs, q.Stride
	for i, c := range q.Columns {
		least, most := float32(math.MaxFloat32), float32(-math.MaxFloat32)
		for at := c; at < len(rows); at += inputs {
			if x := Finite(rows[at]); x == x {
				least, most = min(least, x), max(most, x)
			}
		}
		low, scale := minMaxScale(least, most)
		for r := range len(rows) / inputs {
			y := float32(0)
			if x := Finite(rows[r*inputs+c]); x == x {
				y = float32(min(1, (float64(x)-low)*scale))
			}
			dst[r*stride+i] = y
		}
	}
}

// minMaxScale is what to subtract and to multiply by to map [low, high] to [0, 1],
// and a single value to 0.
func minMaxScale(low, high float32) (shift, scale float64) {
	if high > low {
		scale = 1 / (float64(high) - float64(low))
	}
	return float64(low), scale
}
