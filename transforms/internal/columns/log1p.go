package columns

import "math"

type logEntry struct{ inverse, log float64 }

// logTable holds, for c = 1 + i/128, 1/c and log c.
var logTable = func() (t [128]logEntry) {
	for i := range t {
		c := 1 + float64(i)/128
		t[i].inverse, t[i].log = 1/c, math.Log(c)
	}
	return t
}()

// SignedLog1p is sign(x)·log(1+|x|), to within 1e-7 of its size (float32
// precision), at a fraction of the cost of math.Log1p. NaN stays NaN.
//
// With u = 1+|x| = 2^e·m and c the largest 1 + i/128 ≤ m, log u is
// e·log 2 + log c + log(m/c), where m/c − 1 < 1/128 leaves a short series.
func SignedLog1p(x float32) float64 {
	// Below 1e-8, 1+|x| would lose digits, and x itself is right to 5e-9. Zero, of
	// which data are full, goes with the rest: the branches are then predictable.
	const tiny, infinity = 0x322bcc77, 0x7f800000 // bits of 1e-8 and of +Inf
	if size := math.Float32bits(x) &^ (1 << 31); size-1 < tiny-1 || size > infinity {
		return float64(x)
	}
	a := math.Abs(float64(x))
	bits := math.Float64bits(1 + a)
	entry := &logTable[bits>>45&127]
	m := math.Float64frombits(bits&(1<<52-1) | 1023<<52)
	r := m*entry.inverse - 1
	r2 := r * r
	y := r - r2*(1./2-r*(1./3)) - r2*r2*(1./4-r*(1./5))
	y += entry.log + float64(int(bits>>52)-1023)*math.Ln2
	return math.Float64frombits(math.Float64bits(y) | math.Float64bits(float64(x))&(1<<63))
}
