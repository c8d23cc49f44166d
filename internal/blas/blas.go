// Package blas multiplies the matrices of dense layers with the best that the
// machine has:
//
//   - for float32, AVX-512 or AVX2 instructions on x86-64 machines that have them,
//     and NEON instructions on arm64: tiles for matrices of the size of such layers, which
//     take a small part of the time of gonum's (go test -bench Product ./internal/blas);
//   - else, and in programs built with -tags purego, gonum.
//
// The NEON instructions are tested on an emulator; their speed is unmeasured.
package blas

// A library is an implementation of matrix products.
type library int

const (
	gonum library = iota
	avx2
	avx512
	neon
)

var names = [...]string{gonum: "gonum", avx2: "AVX2", avx512: "AVX-512", neon: "NEON"}

// inUse is what products are computed with.
var inUse = best()

// Use has products computed by the library of that name until restore is called, for
// comparisons. It says whether the program and the machine have it.
func Use(name string) (restore func(), ok bool) {
	was := inUse
	for _, l := range available() {
		if names[l] == name {
			inUse = l
			return func() { inUse = was }, true
		}
	}
	return nil, false
}

// available are the libraries that the program and the machine have, the slowest first.
func available() []library {
	list := []library{gonum}
	switch best() {
	case avx512:
		list = append(list, avx2, avx512)
	case avx2, neon:
		list = append(list, best())
	}
	return list
}

// Name is that of the library in use: gonum, AVX2, AVX-512 or NEON.
func Name() string { return names[inUse] }
