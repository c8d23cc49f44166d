package train

import (
	"slices"
	"testing"
)

func TestSharesAreAllThatSumToOne(t *testing.T) {
	seen := map[[3]float64]bool{}
	for s := range sharesOf(3) {
		if s[0]+s[1]+s[2] != 1 || slices.Min(s) < 0 {
			t.Error(s)
		}
		seen[[3]float64(s)] = true
	}
	if len(seen) != 15 { // 4 quarters in 3 shares: 6 over 2
		t.Errorf("%d shares, want 15", len(seen))
	}
}
