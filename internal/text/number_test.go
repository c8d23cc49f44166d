package text

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// checkNumber compares Float32 with strconv, for which some more texts are
// numbers: hexadecimal, infinite and with underscores.
func checkNumber(t interface{ Errorf(string, ...any) }, s string) {
	got, n, err := Float32([]byte(s))
	want, wantErr := strconv.ParseFloat(s, 32)
	if wantErr == nil && strings.ContainsAny(s, "xXiInN_") {
		wantErr = ErrNumber
	}
	read := err == nil && n == len(s)
	if read != (wantErr == nil) || read && math.Float32bits(got) != math.Float32bits(float32(want)) {
		t.Errorf("%q: %v (%d bytes, error %v), strconv says %v, %v", s, got, n, err, float32(want), wantErr)
	}
}

// Every number is the float32 that strconv makes of it, bit for bit.
func TestFloat32IsThatOfStrconv(t *testing.T) {
	for _, s := range []string{"0", "-0", "1", "+1", ".5", "5.", "0.1", "1e10", "1E-10", "1e+5", "16777217", "16777219",
		"1.00000005960464477539062500001", "1.000000059604644775390625", "3.4028235e38", "3.4028236e38", "1e39", "-1e39",
		"1e-45", "7e-46", "1.1754943e-38", "1.17549429e-38", "0e999999999999", "1e-999999999999", "9007199254740993",
		"000000000000000000000000000001.5", "0.00000000000000000000000000000000000000001", "340282356779733661637539395458142568447.9",
		"0.00018446744073709551617", "0.0018446744073709551616", "18446744073709551617", "-0.00012345678901234567", "1.2345678901234567e-30",
		"00000000000000000000", "0.0000000000000000000000", "99999999999999999999"} {
		checkNumber(t, s)
	}
	for _, s := range []string{"", "-", ".", "e5", "1e", "1e+", "--1", "+-1", "x", "0x1p3", "inf", "nan", "1_0"} {
		if _, n, err := Float32([]byte(s)); err == nil && n == len(s) {
			t.Errorf("%q was read as a number", s)
		}
	}
	// In between two float32 numbers, and next to there.
	rapid.Check(t, func(r *rapid.T) {
		f := math.Float32frombits(rapid.Uint32().Draw(r, "bits"))
		if f != f || math.IsInf(float64(f), 0) {
			return
		}
		up := math.Nextafter32(f, math.MaxFloat32)
		checkNumber(r, strconv.FormatFloat(float64(f), 'g', -1, 32))
		checkNumber(r, strconv.FormatFloat(float64(f), 'f', -1, 32))
		middle := (float64(f) + float64(up)) / 2
		for _, v := range []float64{middle, math.Nextafter(middle, math.Inf(1)), math.Nextafter(middle, math.Inf(-1))} {
			checkNumber(r, strconv.FormatFloat(v, 'g', rapid.IntRange(-1, 20).Draw(r, "digits"), 64))
			checkNumber(r, strconv.FormatFloat(v, 'f', rapid.IntRange(-1, 20).Draw(r, "decimals"), 64))
		}
		checkNumber(r, rapid.StringMatching(`[+-]?[0-9]{1,22}(\.0{0,9}[0-9]{0,22})?(e[+-]?[0-9]{1,2})?`).Draw(r, "text"))
	})
}

// Numbers are what strconv reads, and nothing else is a number.
func FuzzFloat32(f *testing.F) {
	for _, s := range []string{"1", "-0.1e+5", "340282356779733661637539395458142568447.9", ".5", "5.", "1e", "nan", "0x1p-2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkNumber(t, s) })
}
