// Package blas multiplies the matrices of dense layers with the best that the
// program was built with and the machine has:
//
//   - OpenBLAS, in programs built with -tags openblas (cgo and libopenblas);
//   - else vek, AVX2 instructions in Go assembly, on x86-64 machines that have them;
//   - else gonum.
//
// With -tags openblas, Gorgonia's own products of matrices use OpenBLAS, too.
package blas

import "github.com/viterin/vek"

// A library is an implementation of matrix products.
type library int

const (
	gonum library = iota
	avx2
	openBLAS
)

var names = [...]string{gonum: "gonum", avx2: "vek (AVX2)", openBLAS: "OpenBLAS"}

// inUse is what products are computed with.
var inUse = func() library {
	switch {
	case withOpenBLAS:
		return openBLAS
	case vek.Info().Acceleration:
		return avx2
	}
	return gonum
}()

// Name is that of the library in use: gonum, vek (AVX2) or OpenBLAS.
func Name() string { return names[inUse] }
