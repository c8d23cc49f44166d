//go:build !amd64 || purego

package softmax

func exponentials32(x []float32, highest, scale float32) float32 {
	return exponentials(x, highest, scale)
}
