package plackett

import (
	"math/bits"

	"github.com/plrank/plrank/internal/num"
)

// alias holds Walker's table (ACM TOMS 1977) in Vose's construction (IEEE TSE 1991):
// O(n) to build, then one random number and one look-up a draw.
type alias struct {
	cells        []cell
	small, large []int32
	share        []float64
}

// cell i keeps draw i while the fraction is below keep, else gives other.
type cell struct {
	keep  uint64
	other int32
}

// build makes the table of weights whose sum is mass.
func (a *alias) build(weights []float64, mass float64) {
	n := len(weights)
	a.cells = num.Sized(a.cells, n)
	a.share = num.Sized(a.share, n)
	a.small = num.Sized(a.small, n)[:0]
	a.large = num.Sized(a.large, n)[:0]
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
		a.cells[s] = cell{keep: uint64(a.share[s] * (1 << 63) * 2), other: l}
		// The donor's share is updated as Vose does, by adding before
		// subtracting 1, which keeps the rounding error smallest.
		a.share[l] = (a.share[l] + a.share[s]) - 1
		if a.share[l] < 1 {
			a.large = a.large[:len(a.large)-1]
			a.small = append(a.small, l)
		}
	}
	// What is left has a share of 1, up to rounding.
	for _, i := range append(a.large, a.small...) {
		a.cells[i] = cell{keep: ^uint64(0), other: i}
	}
}

// pick turns a random 64-bit number into a draw: its product with n has the cell
// in the high word and a fraction in the low word. Which of the cell's two draws
// it is can't be predicted, so the choice is made by a mask and not by a branch.
func (a *alias) pick(r uint64) int {
	i, fraction := bits.Mul64(r, uint64(len(a.cells)))
	c := &a.cells[i]
	_, kept := bits.Sub64(fraction, c.keep, 0) // 1 if fraction < keep
	return int(uint64(c.other) ^ (uint64(c.other)^i)&-kept)
}
