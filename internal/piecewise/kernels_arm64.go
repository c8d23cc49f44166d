//go:build !purego

package piecewise

func vectorKernels() []kernels[float32] {
	return []kernels[float32]{ofPointers("NEON", 16, nil, forwardNEON, backwardNEON)}
}

//go:noescape
func forwardNEON(rows, features int, at *uint32, part *float32, stride int, table, from *float32, fromRow int, to *float32, toRow int, floor float32)

//go:noescape
func backwardNEON(bins int, counts, entries *uint32, dz, dw *float32)
