//go:build purego || !amd64

package blas

const rowPanels = 0

func rowTiles(inner int, a *float32, aCol int, b *float32, bRow int, c *float32, panels int, bias *float32, relu, all int) {
}

const hasColumn8 = false

func column8(inner int, a *float32, aRow, aCol int, b *float32, bRow int, c *float32, cRow int) {
}

func column8x4(inner int, a *float32, aRow, aCol int, b *float32, bRow int, c *float32, cRow int) {
}

func column8x8(inner int, a *float32, aRow, aCol int, b *float32, bRow int, c *float32, cRow int) {
}
