package variance

import (
	_ "embed"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
)

//go:embed sobol.txt
var joeKuo string

// sobolBits is the number of binary digits of a coordinate, and of direction numbers.
const sobolBits = 32

// directions returns the direction numbers of Sobol' sequences by dimension.
var directions = sync.OnceValue(func() [][sobolBits]uint32 {
	var all [][sobolBits]uint32
	var first [sobolBits]uint32
	for i := range first {
		first[i] = 1 << (sobolBits - 1 - i)
	}
	all = append(all, first)
	for line := range strings.Lines(joeKuo) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var numbers []uint32
		for _, field := range strings.Fields(line) {
			n, err := strconv.ParseUint(field, 10, 32)
			if err != nil {
				panic(err)
			}
			numbers = append(numbers, uint32(n))
		}
		polynomial, m := numbers[0], numbers[1:]
		degree := len(m)
		var v [sobolBits]uint32
		for i := range v {
			if i < degree {
				v[i] = m[i] << (sobolBits - 1 - i)
				continue
			}
			v[i] = v[i-degree] ^ v[i-degree]>>degree
			for k := 1; k < degree; k++ {
				if polynomial>>(degree-k)&1 == 1 {
					v[i] ^= v[i-k]
				}
			}
		}
		all = append(all, v)
	}
	return all
})

// MostQuasiRandom is how many documents a list may have for quasi-random rankings: there are
// direction numbers for the given number of dimensions.
const MostQuasiRandom = 256

// sobol fills n points of the unit cube, row after row, with a Sobol' sequence that is
// scrambled by random matrices and shifted (Matoušek 1998), as SciPy and PyTorch do: every
// point by itself is uniform, so that means over the points have no bias. No coordinate is 0
// or 1.
func sobol(random *rand.Rand, n, dimensions int, points []float64) {
	used := bits.Len(uint(n - 1))
	for j := range dimensions {
		var scrambled [sobolBits]uint32
		var rows [sobolBits]uint32 // of a lower triangular matrix with ones on the diagonal
		for r := range rows {
			diagonal := uint32(1) << (sobolBits - 1 - r)
			rows[r] = random.Uint32()&^(diagonal<<1-1) | diagonal
		}
		for i := range used {
			for r, row := range rows {
				parity := uint32(bits.OnesCount32(row&directions()[j][i]) & 1)
				scrambled[i] |= parity << (sobolBits - 1 - r)
			}
		}
		x := random.Uint32()
		for i := range n {
			if i > 0 { // the next point, in the order of the Gray code
				x ^= scrambled[bits.TrailingZeros(uint(i))]
			}
			points[i*dimensions+j] = (float64(x) + random.Float64()/2 + 0.25) / (1 << sobolBits)
		}
	}
}
