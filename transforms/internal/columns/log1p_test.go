package columns

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestSignedLog1pHasFloat32Precision(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		x := math.Float32frombits(rapid.Uint32().Draw(r, "bits"))
		if x != x || math.IsInf(float64(x), 0) {
			return
		}
		want := math.Copysign(math.Log1p(math.Abs(float64(x))), float64(x))
		if got := SignedLog1p(x); math.Abs(got-want) > 3e-8*math.Abs(want) {
			r.Fatalf("log1p of %v: %v, want %v", x, got, want)
		}
	})
	if x := SignedLog1p(float32(math.NaN())); x == x {
		t.Error("NaN did not stay")
	}
	if x := SignedLog1p(0); x != 0 {
		t.Errorf("log1p of 0: %v", x)
	}
	if bits := math.Float32bits(1e-8); bits != 0x322bcc77 {
		t.Errorf("1e-8 has the bits %#x", bits)
	}
}
