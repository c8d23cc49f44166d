//go:build !purego

package piecewise

func vectorKernels() []kernels[float32] {
	return []kernels[float32]{ofPointers("NEON", 16, 1, nil, forwardNEON, backwardNEON)}
}

//go:noescape
func forwardNEON(rows, features int, at *uint32, part *float32, stride int, table, y *float32)

//go:noescape
func backwardNEON(bins int, counts *int, entries *uint64, dz, dw *float32)
