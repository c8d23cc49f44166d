package columns

import "math"

// Positions tell where between the knots of its column a value lies: how many knots it has passed, and how
// far it is to the next.
type Positions struct {
	knots          [][]float32 // by column, and +Inf
	first, missing []float32
}

// NewPositions makes the positions of the knots of all columns, with the position of the first of them, and of
// missing values.
func NewPositions(knots [][]float32, first, missing []float32) *Positions {
	p := &Positions{first: first, missing: missing}
	for _, column := range knots {
		p.knots = append(p.knots, append(column[:len(column):len(column)], float32(math.Inf(1))))
	}
	return p
}

// rounding, added to a position below it and subtracted, leaves a multiple of 2^−16.
const rounding = 128

// Map replaces the values in rows of x, which are stride apart, by their positions, rounded.
func (p *Positions) Map(x []float32, stride int) {
	for ; len(x) > 0; x = x[stride:] {
		for c, knots := range p.knots {
			x[c] = p.position(c, knots, x[c])
		}
	}
}

// position returns the position of a value of column c.
func (p *Positions) position(c int, knots []float32, x float32) float32 {
	if x != x {
		return p.missing[c]
	}
	x = min(max(x, knots[0]), knots[len(knots)-2])
	passed := 0
	for knots[passed+1] <= x {
		passed++
	}
	low, high := float64(knots[passed]), float64(knots[passed+1])
	return p.first[c] + float32(passed) + float32((float64(x)-low)/(high-low)) + rounding - rounding
}
