//go:build !amd64 || purego

package elementwise

func exponentials32(x []float32, highest, scale float32) float32 {
	return exponentials(x, highest, scale)
}
