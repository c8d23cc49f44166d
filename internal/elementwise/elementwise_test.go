package elementwise

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// For any numbers and lengths. On a machine without the instructions it compares nothing.
func TestVectorInstructionsGiveTheBitsOfPlainGo(t *testing.T) {
	has := wide
	defer func() { wide = has }()
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 1e-45, -1e-45, 1e-38, 2e-38, 199.99999, 200, 200.00002, -200.00002, 88, -104,
		math.MaxFloat32, -math.MaxFloat32, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	number := rapid.OneOf(rapid.Float32(), rapid.Float32Range(-1, 1), rapid.Float32Range(-20, 20), rapid.SampledFrom(special))
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(0, 70).Draw(r, "n")
		draw := func(name string) []float32 { return rapid.SliceOfN(number, n, n).Draw(r, name) }
		a, b, c, d := draw("a"), draw("b"), draw("c"), draw("d")
		factor := rapid.Float32Range(0, 3).Draw(r, "factor")
		for name, f := range map[string]func(a, b, c, d []float32){
			"sigmoid":  func(a, _, _, _ []float32) { Sigmoid(a) },
			"relu vjp": func(a, b, c, _ []float32) { ReLUVJP(a, b, c, factor) },
			"adam": func(a, b, c, d []float32) {
				for i, v := range d {
					if v < 0 {
						d[i] = -v // squares are not below 0
					}
				}
				Adam(a, b, c, d, float64(factor), .7)
			},
		} {
			got, want := copies(a, b, c, d), copies(a, b, c, d)
			wide = has
			f(got[0], got[1], got[2], got[3])
			wide = false
			f(want[0], want[1], want[2], want[3])
			for s := range got {
				for i, v := range got[s] {
					if w := want[s][i]; math.Float32bits(v) != math.Float32bits(w) && (v == v || w == w) {
						r.Fatalf("%s: number %d of slice %d is %v, want %v", name, i, s, v, w)
					}
				}
			}
		}
	})
}

func copies(all ...[]float32) (c [][]float32) {
	for _, s := range all {
		c = append(c, append([]float32(nil), s...))
	}
	return c
}

// Which entries are dropped depends on their numbers alone.
func TestDropDependsOnNumbersAlone(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n, from := rapid.IntRange(1, 100).Draw(r, "n"), rapid.IntRange(0, 9).Draw(r, "from")
		at := rapid.IntRange(0, n).Draw(r, "at")
		whole, parts := make([]float32, n), make([]float32, n)
		for i := range whole {
			whole[i], parts[i] = 1, 1
		}
		Drop(whole, from, 5, 1<<31, 2)
		Drop(parts[:at], from, 5, 1<<31, 2)
		Drop(parts[at:], from+at, 5, 1<<31, 2)
		for i, v := range whole {
			if parts[i] != v {
				r.Fatalf("number %d is %v, and %v in parts", i, v, parts[i])
			}
		}
	})
}
