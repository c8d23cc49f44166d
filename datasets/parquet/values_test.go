package parquet

import (
	"math"
	"testing"
)

// The numbers are examples of IEEE 754's binary16.
func TestHalfIsBinary16(t *testing.T) {
	for bits, want := range map[uint16]float64{
		0: 0, 1: 0x1p-24, 0x03ff: 0x1p-14 - 0x1p-24, 0x0400: 0x1p-14, 0x3555: .333251953125,
		0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1),
	} {
		if got := float16(bits); float64(got) != want {
			t.Errorf("%#x is %v, want %v", bits, got, want)
		}
	}
	if v := float16(0x7e00); v == v {
		t.Errorf("NaN is %v", v)
	}
}
