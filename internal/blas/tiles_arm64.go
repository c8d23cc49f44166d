//go:build !purego

package blas

func best() library { return neon }

//go:noescape
func tilesNEON(rows, inner int, a *float32, aTile, aRow, aCol int, b *float32, bRow int, c *float32, cRow, add int, bias *float32, relu int)

func tiles(rows, inner int, a *float32, aTile, aRow, aCol int, b *float32, bRow int, c *float32, cRow, add int, bias *float32, relu int) {
	tilesNEON(rows, inner, a, aTile, aRow, aCol, b, bRow, c, cRow, add, bias, relu)
}
