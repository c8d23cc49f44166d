package newfiles

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/commandtest"
)

// What somebody else wrote while documents were scored is not overwritten.
func TestPublishOverwritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scores")
	var files Files
	out, err := files.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(out, "mine")
	commandtest.Write(t, path, "theirs")
	err = files.Publish(io.Discard)
	files.Remove()
	if err == nil || !strings.Contains(err.Error(), "exists") || commandtest.Read(t, path) != "theirs" {
		t.Errorf("%v, %q", err, commandtest.Read(t, path))
	}
	if found, _ := os.ReadDir(filepath.Dir(path)); len(found) != 1 {
		t.Errorf("files %v", found)
	}
}
