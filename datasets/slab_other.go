//go:build !unix

package datasets

// slab is memory for numbers; see slab_unix.go.
type slab struct{ values []float32 }

func newSlab(n int) slab { return slab{make([]float32, n)} }

func (s *slab) free() { *s = slab{} }
