package blas

// isColumn says that there are instructions of their own for matrices of one column.
func (p *panels) isColumn() bool { return inUse.column8 != nil && p.b.Cols == 1 }

func (p *panels) column(c, a Matrix[float32]) {
	eights(c.Rows, func(i, next int) {
		inUse.column8(a.Cols, &a.Data[i*a.Row], next*a.Row*size, a.Col*size,
			&p.b.Data[0], p.b.Row*size, &c.Data[i*c.Row], next*c.Row*size)
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
