// Package blas multiplies the matrices of dense layers with the best that the
// program was built with and the machine has:
//
//   - OpenBLAS, in programs built with -tags openblas (cgo and libopenblas);
//   - else, for float32 on x86-64 machines that have them, AVX-512 or AVX2
//     instructions: a small kernel for matrices of the size of such layers, which
//     takes a small part of the time of gonum's (go test -bench Product ./internal/blas);
//   - else gonum.
//
// With -tags openblas, Gorgonia's own products of matrices use OpenBLAS, too.
package blas

// A library is an implementation of matrix products.
type library int

const (
	gonum library = iota
	avx2
	avx512
	openBLAS
)

var names = [...]string{gonum: "gonum", avx2: "AVX2", avx512: "AVX-512", openBLAS: "OpenBLAS"}

// inUse is what products are computed with.
var inUse = func() library {
	switch {
	case withOpenBLAS:
		return openBLAS
	case hasAVX512:
		return avx512
	case hasAVX2:
		return avx2
	}
	return gonum
}()

// Name is that of the library in use: gonum, AVX2, AVX-512 or OpenBLAS.
func Name() string { return names[inUse] }
