package text

import (
	"strings"
	"testing"
)

func TestIDsAreWholeNumbersOf31Bits(t *testing.T) {
	for word, want := range map[string]int{"0": 0, "7": 7, "2147483647": MaxFeatureID} {
		if id, ok := ParseFeatureID(word); !ok || id != want || IsBeyondFeatureID(word) {
			t.Errorf("%s: %d, %v", word, id, ok)
		}
	}
	for _, word := range []string{"2147483648", "4294967297", "9999999999", "18446744073709551617"} { // on 32 bits some of them wrap
		if id, ok := ParseFeatureID(word); ok || !IsBeyondFeatureID(word) {
			t.Errorf("%s is %d", word, id)
		}
	}
	for _, word := range []string{"", "-1", "+1", "01", "1.0", "1e3", " 1", "x", "0000000000000000000001"} {
		if id, ok := ParseFeatureID(word); ok || IsBeyondFeatureID(word) {
			t.Errorf("%q is %d", word, id)
		}
	}
}

func TestIDsAscendWithinTheirRange(t *testing.T) {
	for want, ids := range map[string][]int{"": {0, 3, MaxFeatureID}, "-1: want 0 to": {-1, 2}, "2 after 2": {1, 2, 2}} {
		if err := CheckFeatureIDs(ids); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %q", ids, err, want)
		}
	}
	if above := uint(MaxFeatureID) + 1; int(above) > 0 { // of 64 bits
		if err := CheckFeatureIDs([]int{int(above)}); err == nil {
			t.Error("an id above the largest passes")
		}
	}
}
