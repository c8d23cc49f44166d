// Package kernel builds the notebook kernel: gophernotes' own main package with
// the symbol tables of ../../symbols linked in, on gomacro. Both are copied from
// Go's module cache to a folder for the build, where a few places are edited;
// see edits.go for what and why.
package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Module is the folder of the notebooks module, in or below which the command must
// have been started.
func Module() (string, error) {
	dir, err := goCommand(".", "list", "-m", "-f", "{{.Dir}}", "github.com/plrank/plrank/notebooks")
	if err != nil {
		return "", fmt.Errorf("start this from plrank's folder notebooks: %w", err)
	}
	return dir, nil
}

// Build builds the kernel and returns the path of its program. Where nothing has
// changed it takes a second.
//
// It is built without cgo, and so without a C compiler, unless the environment has
// CGO_ENABLED=1.
func Build(module string) (string, error) {
	modfile, err := Prepare(module)
	if err != nil {
		return "", err
	}
	program := filepath.Join(filepath.Dir(modfile), "plrank-kernel")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	// Without -s and -w it would be half as large again.
	_, err = goCommand(module, "build", "-modfile", modfile, "-ldflags=-s -w", "-o", program, gophernotes)
	switch {
	case err == nil:
		return program, nil
	case strings.Contains(err.Error(), "C compiler"):
		return "", fmt.Errorf(
			"CGO_ENABLED=1 asks for a C compiler, and there is none: unset it, or install one (Debian and Ubuntu: apt install gcc; Fedora: dnf install gcc; macOS: xcode-select --install): %w",
			err,
		)
	}
	return "", fmt.Errorf("the kernel does not build: %w", err)
}

// Prepare generates the symbol tables of the packages as they are, makes the edited copies, and a go.mod that differs from the module's in
// that it points to them; it returns the path of that file.
func Prepare(module string) (modfile string, err error) {
	if _, err := goCommand(module, "generate", "./symbols"); err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil { // there is no HOME
		cache = os.TempDir()
	}
	build := filepath.Join(cache, "plrank-kernel")
	if err := os.MkdirAll(build, 0o755); err != nil {
		return "", err
	}
	modfile = filepath.Join(build, "kernel.mod")
	for from, to := range map[string]string{"go.mod": "kernel.mod", "go.sum": "kernel.sum"} {
		b, err := os.ReadFile(filepath.Join(module, from))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(build, to), b, 0o644); err != nil {
			return "", err
		}
	}
	// The module's own replacements are relative to it, not to kernel.mod.
	replace := []string{"mod", "edit", "-replace=github.com/plrank/plrank=" + filepath.Dir(module)}
	for _, path := range []string{gomacro, gophernotes} {
		if _, err := goCommand(module, "mod", "download", path); err != nil {
			return "", err
		}
		from, err := goCommand(module, "list", "-m", "-f", "{{.Dir}}", path)
		if err != nil {
			return "", err
		}
		to := filepath.Join(build, filepath.Base(path))
		if err := copyEdited(from, to, edits[path]); err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		replace = append(replace, "-replace="+path+"="+to)
	}
	if _, err := goCommand(module, append(replace, modfile)...); err != nil {
		return "", err
	}
	return modfile, os.WriteFile(filepath.Join(build, filepath.Base(gophernotes), "plrank.go"), []byte(added), 0o644)
}

// goCommand runs the go command in a folder and returns what it prints.
func goCommand(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = cmd.Environ()
	if os.Getenv("CGO_ENABLED") == "" {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=0")
	}
	var out, msg bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &msg
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("the go command is not on the PATH: %w", err)
	}
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, strings.TrimSpace(msg.String()))
	}
	return strings.TrimSpace(out.String()), nil
}
