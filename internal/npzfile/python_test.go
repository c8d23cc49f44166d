package npzfile

import (
	"os/exec"
	"testing"
)

// python runs a script with the first Python that has NumPy; the test is skipped
// where there is none.
func python(t *testing.T, script string, args ...string) (string, bool) {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import numpy").Run() != nil {
			continue
		}
		cmd := exec.Command(name, append([]string{"-c", script}, args...)...)
		cmd.Env = append(cmd.Environ(), "PYTHONIOENCODING=utf-8")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out), true
	}
	t.Skip("no Python with NumPy here")
	return "", false
}
