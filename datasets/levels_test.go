package datasets

import (
	"testing"

	"github.com/plrank/plrank/transforms"
)

// Numbers among the texts of a model are known in any spelling, also where the model has another one than files of data.
func TestNumbersAmongTextsAreKnownInAnySpelling(t *testing.T) {
	value := transforms.LevelValue([]string{"8.0", "red", "true", "9", "9.0"})
	for text, want := range map[string]float32{"8": 1, "8.0": 1, " +8e0": 1, "red": 2, "1": 3, "true": 3, "9": 4, "9.0": 5, "9.00": 4, "7": 0} {
		if got := value(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
