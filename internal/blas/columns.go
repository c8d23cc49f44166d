package blas

// Lanes is how many numbers a row of the result of [Columns] takes: 0 if there are no
// instructions for so many columns.
func Lanes(columns int) int {
	switch {
	case !hasColumn8 || inUse.tile().rows == 0 || columns > 8:
		return 0
	case columns <= 4:
		return 4
	}
	return 8
}

// Columns multiplies so many matrices a by matrices b of one column each at once, on the
// calling goroutine: the numbers of entry k of row r of the matrices a are
// a[r*row+k*columns:], those of entry k of the columns b are b[k*columns:], and the first
// numbers of c[r*Lanes(columns):] become the sums of row r, the same as those of [Product],
// bit for bit. All slices have room behind them for Lanes numbers.
func Columns(c, a []float32, rows, row int, b []float32, columns int) {
	lanes, inner := Lanes(columns), row/columns
	_, _, _ = c[:(rows+1)*lanes], a[:rows*row+lanes], b[:row+lanes]
	do := column8x4
	if lanes == 8 {
		do = column8x8
	}
	eights(rows, func(i, next int) {
		do(inner, &a[i*row], next*row*size, columns*size, &b[0], columns*size, &c[i*lanes], next*lanes*size)
	})
}
