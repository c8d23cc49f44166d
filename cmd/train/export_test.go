package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// -onnx writes a new file, and says what is wrong with a command line.
func TestExport(t *testing.T) {
	_, model := trained(t, fold(t))
	path := filepath.Join(t.TempDir(), "m.onnx")
	if status, _, stderr := call("-model", model, "-onnx", path); status != 0 {
		t.Fatal(stderr)
	}
	if data, err := os.ReadFile(path); err != nil || !strings.Contains(string(data), "feature_ids") {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	for want, args := range map[string][]string{
		"results go to new files":           {"-model", model, "-onnx", path},
		"-onnx needs -model":                {"-onnx", path},
		"-seed has no meaning beside -onnx": {"-model", model, "-onnx", path, "-seed", "3"},
	} {
		if status, _, stderr := call(args...); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%v: %d, %s", args, status, stderr)
		}
	}
}
