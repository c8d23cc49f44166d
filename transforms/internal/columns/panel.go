package columns

import "sync"

const (
	panelColumns = 16
	panelRows    = 256

	few = 8 // rows, for which a panel is not worth it
)

// A panel is columns of documents, one after another.
type panel [panelColumns][panelRows]float32

var panels = sync.Pool{New: func() any { return new(panel) }}

// byColumn has f replace the finite values of column Columns[i], and NaN, by their images, for up to panelRows
// documents at a time. Behind the last of them x goes on with NaN to the end of a register.
func (q Rows) byColumn(f func(i int, x []float32)) {
	p := panels.Get().(*panel)
	defer panels.Put(p)
	for from, to := q.From, q.To; len(from) > 0; {
		n := min(len(from)/q.Inputs, panelRows)
		for c, i := 0, 0; i < len(q.Columns); c += panelColumns {
			first, used := i, 0
			for ; i < len(q.Columns) && q.Columns[i] < c+panelColumns; i++ {
				used |= 1 << (q.Columns[i] - c)
			}
			if used == 0 {
				continue
			}
			rowsToPanel(n, &from[c], q.Inputs, used, &p[0][0])
			for k, column := range q.Columns[first:i] {
				f(first+k, p[column-c][:n])
			}
			panelToRows(n, &to[first], q.Stride, used, 1<<(i-first)-1, &p[0][0])
		}
		from, to = from[n*q.Inputs:], to[min(n*q.Stride, len(to)):]
	}
}
