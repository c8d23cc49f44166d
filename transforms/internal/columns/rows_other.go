//go:build purego || !amd64

package columns

var wide = false

func logStandardRow(dst, row *float32, columns *int, shift, scale *float64, n int, table *float64) {}

func columnLimits(low, high, rows *float32, inputs, n, columns int) {}

func minMaxRow(dst, row *float32, columns *int, low, scale *float64, n int) {}

func quantileRow(dst, row *float32, columns *int, n int, start *uint8, knots, scores *float32, first *int32, step int) {
}

func rowsToPanel(n int, rows *float32, inputs, used int, panel *float32) {}

func panelToRows(n int, rows *float32, stride, used, packed int, panel *float32) {}

func lookupColumn(n int, x, table *float32) {}

func rankColumn(ranks, x *float32, n int) {}

func binPositions(rows int, x *float32, stride, mask, knots int, table *float32) {}
