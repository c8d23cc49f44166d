package elementwise

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Numbers at the ends of ranges and NaN have the derivative of the definition.
func TestReLUVJPIsByDefinition(t *testing.T) {
	nan, infinity := float32(math.NaN()), float32(math.Inf(1))
	for _, y := range []float32{0, float32(math.Copysign(0, -1)), 1e-45, -1e-45, 1, -1, math.MaxFloat32, infinity, -infinity, nan} {
		dz, want := []float32{-7}, float32(0)
		if y > 0 {
			want = 6
		}
		ReLUVJP([]float32{y}, []float32{3}, dz, 2)
		if got := dz[0]; y == y && got != want || y != y && got == got {
			t.Errorf("at %v: %v, want %v", y, got, want)
		}
	}
}

// For any numbers and lengths. On a machine without the instructions it compares nothing.
func TestVectorInstructionsOfAdamGiveTheBitsOfPlainGo(t *testing.T) {
	has := wide
	defer func() { wide = has }()
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 1e-45, -1e-45, 1e-38, 2e-38,
		math.MaxFloat32, -math.MaxFloat32, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	number := rapid.OneOf(rapid.Float32(), rapid.Float32Range(-1, 1), rapid.SampledFrom(special))
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(0, 70).Draw(r, "n")
		var got, want [4][]float32
		for s := range got {
			got[s] = rapid.SliceOfN(number, n, n).Draw(r, "numbers")
			if s == 3 {
				for i, v := range got[s] {
					got[s][i] = max(v, -v) // squares are not below 0
				}
			}
			want[s] = slices.Clone(got[s])
		}
		wide = has
		Adam(got[0], got[1], got[2], got[3], .3, .7)
		wide = false
		Adam(want[0], want[1], want[2], want[3], .3, .7)
		for s := range got {
			for i, v := range got[s] {
				if w := want[s][i]; math.Float32bits(v) != math.Float32bits(w) && (v == v || w == w) {
					r.Fatalf("number %d of slice %d is %v, want %v", i, s, v, w)
				}
			}
		}
	})
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
