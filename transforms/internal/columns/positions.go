package columns

import "math"

// Positions tell where between the knots of its column a value lies: how many knots it has passed, and how
// far it is to the next. Knots are compared with sixteen columns at a time.
type Positions struct {
	groups []group
}

// A group is up to sixteen neighbouring columns, and for each what to compare: rows of sixteen numbers.
type group struct {
	columns int
	knots   int       // of the column that has most
	rows    []float32 // the positions of the first knots, of missing values, the last knots, the knots, +Inf
}

const (
	groupColumns = 16

	firstRow, missingRow, lastRow, knotRows = 0, groupColumns, 2 * groupColumns, 3 * groupColumns // in group.rows
)

// NewPositions makes the positions of the knots of all columns, with the position of the first of them, and of
// missing values.
func NewPositions(knots [][]float32, first, missing []float32) *Positions {
	p := &Positions{}
	for len(knots) > 0 {
		g := group{columns: min(len(knots), groupColumns)}
		for _, of := range knots[:g.columns] {
			g.knots = max(g.knots, len(of))
		}
		g.rows = make([]float32, knotRows+(g.knots+1)*groupColumns)
		for i := knotRows; i < len(g.rows); i++ {
			g.rows[i] = float32(math.Inf(1))
		}
		for i, of := range knots[:g.columns] {
			g.rows[firstRow+i], g.rows[missingRow+i], g.rows[lastRow+i] = first[i], missing[i], of[len(of)-1]
			for k, v := range of {
				g.rows[knotRows+k*groupColumns+i] = v
			}
		}
		p.groups = append(p.groups, g)
		knots, first, missing = knots[g.columns:], first[g.columns:], missing[g.columns:]
	}
	return p
}

// rounding, added to a position below it and subtracted, leaves a multiple of 2^−16.
const rounding = 128

// Map replaces the values in rows of x, which are stride apart, by their positions, rounded.
func (p *Positions) Map(x []float32, stride int) {
	for i := range p.groups {
		g, from := &p.groups[i], i*groupColumns
		if wide {
			if rows := len(x) / stride; rows > 0 {
				binPositions(rows, &x[from], stride, 1<<g.columns-1, g.knots, &g.rows[0])
			}
			continue
		}
		for at := from; at < len(x); at += stride {
			for c, v := range x[at:][:g.columns] {
				x[at+c] = g.position(c, v)
			}
		}
	}
}

// position returns the position of a value of a column.
func (g *group) position(c int, x float32) float32 {
	if x != x {
		return g.rows[missingRow+c]
	}
	knots, passed := g.rows[knotRows+c:], 0
	x = min(max(x, knots[0]), g.rows[lastRow+c])
	for knots[(passed+1)*groupColumns] <= x {
		passed++
	}
	low, high := float64(knots[passed*groupColumns]), float64(knots[(passed+1)*groupColumns])
	return g.rows[firstRow+c] + float32(passed) + float32((float64(x)-low)/(high-low)) + rounding - rounding
}
