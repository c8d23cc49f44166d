package jupyter

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestInstallReplacesAnOlderKernel(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "plrank-kernel")
	data := filepath.Join(dir, "share", "jupyter")
	for _, text := range []string{"first", "first", "second"} { // new, unchanged, replaced
		if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		got, err := Install(data, program)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(got, "kernel.json"))
		if err != nil {
			t.Fatal(err)
		}
		var spec struct {
			Argv     []string
			Language string
		}
		if err := json.Unmarshal(b, &spec); err != nil {
			t.Fatal(err)
		}
		if len(spec.Argv) != 2 || spec.Argv[1] != "{connection_file}" || spec.Language != "go" || !filepath.IsAbs(spec.Argv[0]) {
			t.Fatalf("kernel.json is %s", b)
		}
		if b, err = os.ReadFile(spec.Argv[0]); err != nil || string(b) != text {
			t.Errorf("the program is %q, %v, want %q", b, err, text)
		}
		entries, err := os.ReadDir(filepath.Join(data, "kernels", "plrank"))
		if err != nil || len(entries) != 2 {
			t.Errorf("the folder has %v, %v", entries, err)
		}
		if info, err := os.Stat(spec.Argv[0]); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o100 == 0 {
			t.Errorf("the program is %v, %v", info.Mode(), err)
		}
	}
}

// Without Jupyter, its own rules say where its data is.
func TestUserDataWithoutJupyter(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the test is of the rules of Linux")
	}
	t.Setenv("PATH", "")
	t.Setenv("HOME", "/home/x")
	for _, c := range []struct{ data, xdg, want string }{
		{"", "", "/home/x/.local/share/jupyter"},
		{"", "/xdg", "/xdg/jupyter"},
		{"/data", "/xdg", "/data"},
	} {
		t.Setenv("JUPYTER_DATA_DIR", c.data)
		t.Setenv("XDG_DATA_HOME", c.xdg)
		if got, err := UserData(); err != nil || got != c.want {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
	if _, err := EnvironmentData(); err == nil || !strings.Contains(err.Error(), "python3 is not on the PATH") {
		t.Errorf("error %v", err)
	}
	if err := Available(); err != ErrMissing {
		t.Errorf("error %v", err)
	}
}

func TestCellErrorLeavesOutTheTraceback(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"[NbConvertApp] Converting\nTraceback\nnbclient.exceptions.CellExecutionError: An error\nERROR: reason\n", "CellExecutionError: An error\nERROR: reason"},
		{" something else \n", "something else"},
	} {
		if got := cellError(c.in); got != c.want {
			t.Errorf("%q: %q", c.in, got)
		}
	}
}
