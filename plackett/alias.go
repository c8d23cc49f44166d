package plackett

import "github.com/plrank/plrank/plackett/internal/lanes"

// alias is Walker's table (ACM TOMS 1977) in Vose's construction (IEEE TSE 1991):
// O(n) to build, then one random number and one look-up a draw. Item i is document i of those given.
type alias struct {
	cells []lanes.Cell
	small []int32
	large []int32
	share []float64
}

// build makes the table of documents of these weights, whose sum is mass.
func (a *alias) build(documents []int32, weights []float64, mass float64) {
	n := len(weights)
	a.cells = grow(a.cells, n)
	a.share = grow(a.share, n)
	a.small = grow(a.small, n)[:0]
	a.large = grow(a.large, n)[:0]
	scale := float64(n) / mass
	for i, w := range weights {
		a.share[i] = w * scale
		if a.share[i] < 1 {
			a.small = append(a.small, int32(i))
		} else {
			a.large = append(a.large, int32(i))
		}
	}
	for len(a.small) > 0 && len(a.large) > 0 {
		s := a.small[len(a.small)-1]
		l := a.large[len(a.large)-1]
		a.small = a.small[:len(a.small)-1]
		a.cells[s] = lanes.Cell{Keep: uint64(a.share[s] * (1 << 63) * 2), Kept: documents[s], Other: documents[l]}
		// The donor's share is updated as Vose does, by adding before
		// subtracting 1, which keeps the rounding error smallest.
		a.share[l] = (a.share[l] + a.share[s]) - 1
		if a.share[l] < 1 {
			a.large = a.large[:len(a.large)-1]
			a.small = append(a.small, l)
		}
	}
	// What is left has a share of 1, up to rounding.
	for _, i := range a.large {
		a.cells[i] = lanes.Cell{Keep: ^uint64(0), Kept: documents[i], Other: documents[i]}
	}
	for _, i := range a.small {
		a.cells[i] = lanes.Cell{Keep: ^uint64(0), Kept: documents[i], Other: documents[i]}
	}
}
