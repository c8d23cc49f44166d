//go:build !amd64

package datasets

var wide = false

func logStandardRow(dst, row *float32, columns *int, shift, scale *float64, n int, table *logEntry) {}

func quantileColumn(dst *float32, stride int, rows *float32, inputs int, n int, start *uint8, keys *uint32, pieces *piece, step int) {
}
