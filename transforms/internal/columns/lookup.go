package columns

import "math"

// MostKnots is the number of knots of a column at most: a table counts them in bytes.
const MostKnots = 255

// Lookups are the functions of columns: linear between knots,
// beyond them the score of the last one, and for missing values a score of their own. For each column a table by the leading bits of a
// value, 16 entries for every power of two, tells which knots may be next to it. Those of all
// columns stand one after another, so that several can be looked up at once. Where there are
// very many columns, a table has a single entry: what a model file takes is in proportion to it.
type Lookups struct {
	shift int     // of keys: lookupShift, or noTables
	start []uint8 // by column and by key >> shift: the least knot below values with those bits
	first []int32 // by column: the position of its first knot
	knots []float32
	score []float32 // at the knots
	steps []int     // by column: half of the number of knots to choose from, a power of two, 2 or more
	most  int       // of steps

	missing []float32 // by column; nil: 0
}

const (
	lookupShift = 19

	mostTables = 4096 // columns: tables of 32 MB
	noTables   = 32   // a shift
)

// orderedKey is a number that compares as x does; x must not be −0.
func orderedKey(x float32) uint32 {
	b := math.Float32bits(x)
	return b ^ (uint32(int32(b)>>31) | 1<<31)
}

// NewLookups makes the lookups of the knots and scores of all columns, and the scores of missing values; nil: 0. Below the knots of a
// column stands the least number, and above them as many infinite ones as a search may
// reach, with the score of the last knot next to each.
func NewLookups(knots, scores [][]float32, missing []float32) *Lookups {
	l := &Lookups{shift: lookupShift, missing: missing}
	if len(knots) > mostTables {
		l.shift = noTables
	}
	l.start = make([]uint8, len(knots)<<(32-l.shift))
	for i := range knots {
		step := fillStart(l.table(i), knots[i], l.shift)
		l.steps, l.most = append(l.steps, step), max(l.most, step)
	}
	for i, column := range knots {
		last, reach := len(column)-1, l.most
		if l.shift == noTables {
			reach = l.steps[i]
		}
		l.first = append(l.first, int32(len(l.knots)))
		l.knots = append(append(l.knots, -math.MaxFloat32), column...)
		l.score = append(append(l.score, scores[i][0]), scores[i]...)
		for range 2*reach + 1 {
			l.knots = append(l.knots, float32(math.Inf(1)))
			l.score = append(l.score, scores[i][last])
		}
	}
	return l
}

// table returns the table of column i.
func (l *Lookups) table(i int) []uint8 {
	size := 1 << (32 - l.shift)
	return l.start[i*size:][:size]
}

// fillStart fills the table of a column, and gives the step that it needs.
func fillStart(start []uint8, knots []float32, shift int) (step int) {
	step = 2
	filled, before := 0, 0 // entries, and the knot of the last of them
	for k, v := range knots {
		first := int((uint64(orderedKey(v+0)) + 1<<shift - 1) >> shift) // entry that begins at this knot or above
		for ; filled < first; filled++ {
			start[filled] = uint8(k)
		}
		// From here on this knot is the least, and behind the entry before are all from its own to this one.
		if filled > 0 {
			before = int(start[filled-1])
		}
		for k+1-before > 2*step-1 {
			step *= 2
		}
	}
	for ; filled < len(start); filled++ {
		start[filled] = uint8(len(knots))
	}
	return step
}

// column maps column i of rows to one of dst. It has no branches on values, which could
// not be predicted, except for values that are not finite.
func (l *Lookups) column(i int, dst []float32, stride int, rows []float32, inputs int) {
	shift, start, knots, scores := l.shift, l.table(i), l.knots[l.first[i]:], l.score[l.first[i]:]
	to, missing := 0, float32(0)
	if l.missing != nil {
		missing = l.missing[i]
	}
	for at := 0; at < len(rows); at += inputs {
		x := rows[at] + 0 // no −0
		if x-x != 0 {
			if x = Finite(x); x != x {
				dst[to] = missing
				to += stride
				continue
			}
		}
		k := int(start[orderedKey(x)>>shift])
		for step := l.steps[i]; step > 2; step >>= 1 {
			k += step & -atMost(knots[k+step], x)
		}
		k += 2 & -atMost(knots[k+2], x)
		k += atMost(knots[k+1], x)
		knot, score := float64(knots[k]), scores[k]
		dst[to] = score + float32((float64(x)-knot)/(float64(knots[k+1])-knot))*(scores[k+1]-score)
		to += stride
	}
}

// atMost is 1 if a ≤ b, else 0.
func atMost(a, b float32) int {
	if a <= b {
		return 1
	}
	return 0
}

// rounding, added to a number below it and subtracted, leaves a multiple of 2^−16.
const rounding = 128

// Positions replaces the values in rows of x, which are stride apart, by their scores, rounded: these are positions among the knots.
func (l *Lookups) Positions(x []float32, stride int) {
	for i := range l.steps {
		l.column(i, x[i:], stride, x[i:], stride)
	}
	for ; len(x) > 0; x = x[stride:] {
		for i := range l.steps {
			x[i] = x[i] + rounding - rounding
		}
	}
}

// Map maps the values of all columns.
func (l *Lookups) Map(q Rows) {
	for i, c := range q.Columns {
		l.column(i, q.To[i:], q.Stride, q.From[c:], q.Inputs)
	}
}
