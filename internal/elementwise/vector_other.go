//go:build !amd64 || purego

package elementwise

func exponentials32(x []float32, highest, scale float32) float32 {
	return exponentials(x, highest, scale)
}

var wide = false

func adamAVX512(w, gradient, mean, squares *float32, n int, rate, unbias float64) {}

func logisticAVX512(x, value, slope, curvature *float64, n int, tables *float64) {}
