//go:build purego || !(amd64 || arm64)

package blas

func best() library { return gonum }

func tiles(rows, inner int, a *float32, aTile, aRow, aCol int, b *float32, bRow int, c *float32, cRow, add int, bias *float32, relu int) {
}
