package columns

import "math"

// MinMax maps the least value of a column in the query to 0, the greatest to 1, and those
// between linearly; missing ones to 0, and all to 0 if they are equal.
func MinMax(q Rows) {
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
