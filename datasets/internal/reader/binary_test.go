package reader

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A program that does not import the package of a binary format is told which it needs.
func TestBinaryFormatNeedsItsImport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.parquet")
	if err := os.WriteFile(path, []byte("PAR1\x00\x00PAR1"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Read(Split{path, []string{path}}, FileOptions{}, NewNames(Options{}))
	if want := `train.parquet: it is Parquet, which this program does not read: it needs import _ "github.com/plrank/plrank/datasets/parquet"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}
