package jupyter

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// HowToGet says how to get what runs notebooks headless.
const HowToGet = "pip install nbconvert jupyter-client ipykernel (Debian and Ubuntu: apt install jupyter-nbconvert jupyter-client python3-ipykernel)"

// ErrMissing is returned if no Jupyter can run a notebook.
var ErrMissing = errors.New("running notebooks needs jupyter nbconvert, which was not found: " + HowToGet)

// Available returns ErrMissing, or nil.
func Available() error {
	if err := exec.Command("jupyter", "nbconvert", "--version").Run(); err != nil {
		return ErrMissing
	}
	return nil
}

// Execute runs all cells of a notebook, in its folder, with the kernel installed
// below data, and writes it with its outputs to the file out. The first cell that
// fails ends it with an error that says what the cell said.
func Execute(data, notebook, out string) error {
	cmd := exec.Command("jupyter", "nbconvert", "--to", "notebook", "--execute",
		"--ExecutePreprocessor.kernel_name="+KernelName,
		"--ExecutePreprocessor.timeout=600",
		"--ExecutePreprocessor.record_timing=False",
		"--output-dir", filepath.Dir(out), "--output", filepath.Base(out), notebook)
	scratch, err := os.MkdirTemp("", "jupyter")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	// Nothing of the user's, neither settings nor other kernels, plays a part.
	cmd.Env = append(os.Environ(), "JUPYTER_PATH="+data, "JUPYTER_DATA_DIR="+scratch, "JUPYTER_CONFIG_DIR="+scratch,
		"JUPYTER_RUNTIME_DIR="+scratch, "IPYTHONDIR="+scratch)
	var msg bytes.Buffer
	cmd.Stderr = &msg
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", notebook, err, cellError(msg.String()))
	}
	return nil
}

// cellError is the part of nbconvert's messages that tells of the cell: what comes
// after Python's own traceback.
func cellError(messages string) string {
	const marker = "nbclient.exceptions."
	if i := strings.LastIndex(messages, marker); i >= 0 {
		return strings.TrimSpace(messages[i+len(marker):])
	}
	return strings.TrimSpace(messages)
}
