package losses

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The thresholds far from the score, which are added up at once, give what each gives.
func TestThresholdsAreTheirSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		highest := float64(rapid.IntRange(1, 500).Draw(t, "highest"))
		label := min(highest, rapid.OneOf(
			rapid.Float64Range(0, 500), rapid.Map(rapid.IntRange(0, 500), func(n int) float64 { return float64(n) }),
		).Draw(t, "label"))
		score := rapid.Float64Range(-600, 600).Draw(t, "score")
		value, slope, size := 0.0, 0.0, 1.0
		for c := 1.0; c <= highest; c++ {
			x, target := score-c+0.5, max(0, min(1, label-c+1))
			value += target*softplus(-x) + (1-target)*softplus(x)
			slope += (1-target)*sigmoid(x) - target*sigmoid(-x)
			size += math.Abs(x)
		}
		if v, s := thresholds(score, label, highest); math.Abs(v-value) > 1e-13*size || math.Abs(s-slope) > 1e-13*highest {
			t.Errorf("%v, %v, want %v, %v", v, s, value, slope)
		}
	})
}

// No label makes them slow.
func TestThresholdsOfHugeLabels(t *testing.T) {
	for _, label := range []float64{0, 1e18} {
		if value, slope := thresholds(1, label, 1e18); !(value > 0) || math.Abs(slope) > 1e18 {
			t.Errorf("label %v: %v, %v", label, value, slope)
		}
	}
}
