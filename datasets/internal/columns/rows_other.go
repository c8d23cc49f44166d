//go:build purego || !amd64

package columns

var wide = false

func logStandardRow(dst, row *float32, columns *int, shift, scale *float64, n int, table *float64) {}

func columnLimits(low, high, rows *float32, inputs, n, columns int) {}

func minMaxRow(dst, row *float32, columns *int, low, scale *float64, n int) {}

func quantileColumn(dst *float32, stride int, rows *float32, inputs int, n int, start *uint8, knots, scores *float32, step int) {
}

func quantileRow(dst, row *float32, columns *int, n int, start *uint8, knots, scores *float32, first *int32, step int) {
}

func countRanks(lower *int32, values *float32, n int) {}

func binPositions(rows int, x *float32, stride, mask, knots int, table *float32) {}
