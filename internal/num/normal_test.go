package num

import (
	"math"
	"testing"
)

func TestSubnormalNumbersBecomeZero(t *testing.T) {
	for _, x := range []float64{0, 1, -1, -699, 710, math.Inf(1), math.Inf(-1)} {
		if got, want := FlushExp(x), math.Exp(x); got != want {
			t.Errorf("Exp(%v) = %v, want %v", x, got, want)
		}
	}
	if got := FlushExp(-701); got != 0 {
		t.Errorf("Exp(-701) = %v", got)
	}
	const small, tiny = 0x1p-126, 0x1p-1022
	for _, c := range []struct{ got, want float64 }{
		{float64(FlushFloat32(1)), 1}, {float64(FlushFloat32(-small)), -small}, {float64(FlushFloat32(small / 2)), 0}, {float64(FlushFloat32(-small / 2)), 0},
		{float64(Flush(1)), 1}, {float64(Flush(-small)), -small}, {float64(Flush(small / 2)), 0}, {float64(Flush(-small / 2)), 0},
		{FlushFloat64(1), 1}, {FlushFloat64(-tiny), -tiny}, {FlushFloat64(tiny / 2), 0}, {FlushFloat64(-tiny / 2), 0},
	} {
		if c.got != c.want {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
	for _, v := range []float64{math.NaN(), FlushExp(math.NaN()), float64(FlushFloat32(math.NaN())), float64(Flush(float32(math.NaN()))), FlushFloat64(math.NaN())} {
		if v == v {
			t.Errorf("%v, want NaN", v)
		}
	}
}
