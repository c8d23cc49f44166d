// Package jupyter tells Jupyter of the kernel and runs notebooks with it.
package jupyter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// KernelName is what notebooks call the kernel in their metadata.
const KernelName = "plrank"

// Install puts the kernel into a folder of Jupyter's data (…/share/jupyter), and
// returns the folder of the kernel there. The program is copied: the repository
// may be moved or deleted afterwards.
func Install(data, program string) (string, error) {
	dir, err := filepath.Abs(filepath.Join(data, "kernels", KernelName))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	installed := filepath.Join(dir, filepath.Base(program))
	b, err := os.ReadFile(program)
	if err != nil {
		return "", err
	}
	if err := replaceFile(installed, b, 0o755); err != nil {
		return "", err
	}
	// The path is written out: not all front ends know {resource_dir}.
	spec, err := json.MarshalIndent(map[string]any{
		"argv":         []string{installed, "{connection_file}"},
		"display_name": "Go (plrank)",
		"language":     "go",
	}, "", " ")
	if err != nil {
		return "", err
	}
	return dir, replaceFile(filepath.Join(dir, "kernel.json"), append(spec, '\n'), 0o644)
}

// replaceFile writes a file if it is not there, or another: a running kernel keeps
// the program it was started from.
func replaceFile(path string, b []byte, mode os.FileMode) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, b) {
		return nil
	}
	if err := os.WriteFile(path+".new", b, mode); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// UserData is the folder of Jupyter's data of the user, asked of Jupyter if there
// is one.
func UserData() (string, error) {
	if b, err := exec.Command("jupyter", "--data-dir").Output(); err == nil && len(bytes.TrimSpace(b)) > 0 {
		return string(bytes.TrimSpace(b)), nil
	}
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		return dir, nil
	}
	if dir := os.Getenv("APPDATA"); dir != "" && runtime.GOOS == "windows" {
		return filepath.Join(dir, "jupyter"), nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" && runtime.GOOS != "darwin" {
		return filepath.Join(dir, "jupyter"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("%w; give the folder with -prefix", err)
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Jupyter"), nil
	}
	return filepath.Join(home, ".local", "share", "jupyter"), nil
}

// EnvironmentData is the folder of Jupyter's data in the active Python environment,
// asked of the Python on the PATH.
func EnvironmentData() (string, error) {
	var tried []string
	for _, python := range []string{"python3", "python"} {
		cmd := exec.Command(python, "-c", "import jupyter_core.paths as p; print(p.ENV_JUPYTER_PATH[0])")
		var msg bytes.Buffer
		cmd.Stderr = &msg
		b, err := cmd.Output()
		if err == nil {
			return strings.TrimSpace(string(b)), nil
		}
		if errors.Is(err, exec.ErrNotFound) {
			tried = append(tried, python+" is not on the PATH")
		} else {
			lines := strings.Split(strings.TrimSpace(msg.String()), "\n")
			tried = append(tried, python+": "+lines[len(lines)-1])
		}
	}
	return "", fmt.Errorf(
		"no Python environment with Jupyter is active (%s); activate one, or use -user or -prefix",
		strings.Join(tried, "; "),
	)
}
