package plackett

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The steps that docs/exact.md has are those that the rule takes.
func TestStepsAreAsDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/exact.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, tolerance := range []float64{1e-7, 1e-13} {
		want := fmt.Sprintf("| $h$ for the tolerance %.0e |", tolerance)
		want = strings.Replace(want, "e-0", "e-", 1)
		for _, cutoff := range []int{1, 5, 10, 50, 125, 1000} {
			want += fmt.Sprintf(" %.3f |", newRule(cutoff, tolerance).step)
		}
		if !strings.Contains(string(text), want+"\n") {
			t.Errorf("docs/exact.md has no line\n%s", want)
		}
	}
}
