package elementwise

import "math"

// Logistic functions have tables of 16 entries, which a register of vector instructions holds, and a short series.
const logisticSteps = 16

// The tables of e^−x, of 1/(1+e) and of log(1+e).
var logisticTables = [3][logisticSteps]float64{
	tabulate(func(i float64) float64 { return math.Exp2(-i) }),
	tabulate(func(i float64) float64 { return 1 / (1 + i) }),
	tabulate(math.Log1p),
}

// tabulate returns f(i/16) for i from 0 to 15.
func tabulate(f func(float64) float64) (t [logisticSteps]float64) {
	for i := range t {
		t[i] = f(float64(i) / logisticSteps)
	}
	return t
}

// The coefficients of (e^r − 1)/r, and of (log(1+r) − r)/r², from the highest, for |r| up to ln 2/32 and 1/31.
var (
	expSeries   = [...]float64{1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1}
	log1pSeries = [...]float64{1. / 9, -1. / 8, 1. / 7, -1. / 6, 1. / 5, -1. / 4, 1. / 3, -1. / 2}
)

const (
	mostLogistic = 700 // beyond which e^−x comes near the smallest normal number
	ln2High      = 6.93147180369123816490e-01 / logisticSteps
	ln2Low       = 1.90821492927058770002e-10 / logisticSteps
)

// Logistic sets value_i to log(1 + e^x_i), and slope_i and curvature_i to its derivatives, by one exponential. Beyond ±700, e^−|x| is
// taken for e^−700. Vector instructions give the same bits: products are rounded before they are added to.
func Logistic(x, value, slope, curvature []float64) {
	value, slope, curvature = value[:len(x)], slope[:len(x)], curvature[:len(x)]
	const step = 8
	if n := len(x) / step * step; wide && n > 0 {
		logisticAVX512(&x[0], &value[0], &slope[0], &curvature[0], n, &logisticTables[0][0])
		x, value, slope, curvature = x[n:], value[n:], slope[n:], curvature[n:]
	}
	for i, v := range x {
		size := math.Abs(v)
		if size > mostLogistic {
			size = mostLogistic
		}
		shifted := float64(size*(logisticSteps/math.Ln2)) + roundShift
		n, k := shifted-roundShift, math.Float64bits(shifted)
		r := float64(n*ln2High) - size + float64(n*ln2Low)
		e := float64(series(r, expSeries[:])*r) + 1
		e = e * logisticTables[0][k%logisticSteps] * math.Float64frombits(1023<<52-k/logisticSteps<<52)
		low := e / (1 + e)
		high := 1 - low
		curvature[i] = low * high

		y := float64(e * logisticSteps)
		if y > logisticSteps-1 {
			y = logisticSteps - 1
		}
		shifted = y + roundShift
		k = math.Float64bits(shifted) % logisticSteps
		r = (e - (shifted-roundShift)/logisticSteps) * logisticTables[1][k]
		value[i] = float64(float64(series(r, log1pSeries[:])*r)*r) + r + logisticTables[2][k]
		if slope[i] = low; v > 0 {
			value[i], slope[i] = value[i]+v, high
		}
	}
}

// series returns the value of a polynomial.
func series(r float64, c []float64) float64 {
	p := c[0]
	for _, c := range c[1:] {
		p = float64(p*r) + c
	}
	return p
}
