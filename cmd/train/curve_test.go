package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A picture that cannot be written is a warning: the run and its numbers are complete.
func TestPictureThatFailsIsAWarning(t *testing.T) {
	data := fold(t)
	out, model := trained(t, data, "-epochs", "1", "-hidden", "4")
	curve := filepath.Join(out, "curve.png")
	if err := os.Remove(curve); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(curve, "in the way"), "")
	stdout, stderr := must(t, "-resume", "-out", out, "-epochs", "2")
	if !strings.Contains(stderr, "warning: ") || !strings.Contains(stderr, "curve.png") || !strings.Contains(stderr, "written to "+out) || !strings.Contains(stdout, "test: 10 queries") {
		t.Errorf("%s%s", stdout, stderr)
	}

	picture := filepath.Join(t.TempDir(), "none", "importance.svg")
	stdout, stderr = must(t, "-model", model, "-data", data, "-importance", picture)
	if !strings.Contains(stderr, "warning: ") || !strings.Contains(stderr, picture) || !strings.Contains(stdout, "gets worse without a feature") {
		t.Errorf("%s%s", stdout, stderr)
	}
}
