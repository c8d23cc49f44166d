//go:build !purego

package blas

func tiled() []library { return []library{{name: "NEON", rows: 6, cols: 16, tiles: tilesNEON}} }

//go:noescape
func tilesNEON(rows, inner int, a *float32, aTile, aRow, aCol int, b *float32, bRow int, c *float32, cRow, add int, bias *float32, relu int)
