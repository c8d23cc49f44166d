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
type library struct {
	name string
	// rows and cols are the shape of the tiles of c that are computed at a time, 0 without tiles. As many
	// sums as that fill the registers, so that few numbers are loaded for each multiplication.
	rows, cols int
	tiles      func(rows, inner int, a *float32, aTile, aRow, aCol int, b *float32, bRow int,
		c *float32, cRow, add int, bias *float32, relu int)
	// row is for up to rowPanels panels of a single row, and nil where tiles are as good.
	row func(inner int, a *float32, aCol int, b *float32, bRow int, c *float32, panels int, bias *float32, relu, all int)
	// column8 is for eight rows of a matrix of one column, and nil where there is none.
	column8 func(inner int, a *float32, aRow, aCol int, b *float32, bRow int, c *float32, cRow int)
}

// rowPanels is how many panels of columns of a single row are computed side by side.
const rowPanels = 6

// available are the libraries that the program and the machine have, the best last.
var available = append([]library{{name: "gonum"}}, tiled()...)

// inUse is what products are computed with.
var inUse = available[len(available)-1]

// Name returns the name of the library in use: gonum, AVX2, AVX-512 or NEON.
func Name() string { return inUse.name }
