//go:build !purego

package blas

import "golang.org/x/sys/cpu"

//go:generate go -C ../gen run ./blas -out ../blas/tiles_amd64.s -stubs ../blas/stubs_amd64.go -pkg blas

// best is the best that the machine has.
func best() library {
	switch {
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasAVX512F:
		return avx512
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		return avx2
	}
	return gonum
}

const hasColumn8 = true // in all libraries that have tiles

func tiles(rows, inner int, a *float32, aTile, aRow, aCol int, b *float32, bRow int, c *float32, cRow, add int, bias *float32, relu int) {
	if inUse == avx512 {
		tilesAVX512(rows, inner, a, aTile, aRow, aCol, b, bRow, c, cRow, add, bias, relu)
		return
	}
	tilesAVX2(rows, inner, a, aTile, aRow, aCol, b, bRow, c, cRow, add, bias, relu)
}

// rowPanels is how many panels of columns of a single row are computed side by side.
const rowPanels = 6

func rowTiles(inner int, a *float32, aCol int, b *float32, bRow int, c *float32, panels int, bias *float32, relu, all int) {
	if inUse == avx512 {
		rowAVX512(inner, a, aCol, b, bRow, c, panels, bias, relu, all)
		return
	}
	rowAVX2(inner, a, aCol, b, bRow, c, panels, bias, relu, all)
}
