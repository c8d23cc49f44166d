package trainer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A picture that cannot be written is a warning: the run and its numbers are complete.
func TestPictureThatFailsIsAWarning(t *testing.T) {
	t.Parallel()
	data := fold(t)
	out, _ := trained(t, data, "-epochs", "1", "-hidden", "4")
	curve := filepath.Join(out, "curve.png")
	if err := os.Remove(curve); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(curve, "in the way"), "")
	stdout, stderr := must(t, "-resume", "-out", out, "-epochs", "2")
	if !strings.Contains(stderr, "warning: ") || !strings.Contains(stderr, "curve.png") || !strings.Contains(stderr, "written to "+out) || !strings.Contains(stdout, "test: 10 queries") {
		t.Errorf("%s%s", stdout, stderr)
	}
}
