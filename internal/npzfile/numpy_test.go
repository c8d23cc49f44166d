//go:build onnxruntime

package npzfile

import (
	"cmp"
	"os"
	"os/exec"
	"testing"
)

// NumPy reads a file. The Python of PLRANK_PYTHON, or python3, must have it.
func TestNumPyOpensIt(t *testing.T) {
	script := `
import sys, json, numpy
f = numpy.load(sys.argv[1])
print(json.loads(bytes(f["header"]))["Name"], f["w"].shape, f["w"].dtype, f["w"][1].tolist(), f["b"].tolist())
`
	python := exec.Command(cmp.Or(os.Getenv("PLRANK_PYTHON"), "python3"), "-c", script, write(t, example()))
	python.Env = append(python.Environ(), "PYTHONIOENCODING=utf-8")
	out, err := python.CombinedOutput()
	if want := "héllo (2, 3) float64 [4.0, 5.0, 6.0] [-1.0, 0.0, 3.141592653589793]\n"; err != nil || string(out) != want {
		t.Errorf("%v: got %q, want %q", err, out, want)
	}
}
