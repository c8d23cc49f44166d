package blas

// isColumn says that there are instructions of their own for matrices of one column.
func (p *panels) isColumn() bool { return inUse.column8 != nil && p.b.Cols == 1 }

func (p *panels) column(c, a Matrix[float32]) {
	eights(c.Rows, func(i, next int) {
		inUse.column8(a.Cols, &a.Data[i*a.Row], next*a.Row*size, a.Col*size,
			&p.b.Data[0], p.b.Row*size, &c.Data[i*c.Row], next*c.Row*size)
	})
}

// Lanes is how many numbers a row of the result of [Columns] takes: 0 if there are no
// instructions for so many columns.
func Lanes(columns int) int {
	switch {
	case inUse.column8 == nil || columns > 8:
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
	do := inUse.column8x4
	if lanes == 8 {
		do = inUse.column8x8
	}
	eights(rows, func(i, next int) {
		do(inner, &a[i*row], next*row*size, columns*size, &b[0], columns*size, &c[i*lanes], next*lanes*size)
	})
}

// eights calls f for eight rows at a time, with the first and the distance to the next: 1,
// or 0 for eight times the same row.
func eights(rows int, f func(i, next int)) {
	if rows < 8 {
		for i := range rows {
			f(i, 0)
		}
		return
	}
	for i := 0; i < rows; i += 8 {
		f(min(i, rows-8), 1) // at the end, some of them again
	}
}
