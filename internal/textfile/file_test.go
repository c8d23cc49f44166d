package textfile

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// packed is a text, plain and compressed, by the ending of a file.
func packed(t *testing.T, text string) map[string][]byte {
	t.Helper()
	var gz, zst bytes.Buffer
	z, err := zstd.NewWriter(&zst)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{gzip.NewWriter(&gz), z} {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return map[string][]byte{".txt": []byte(text), ".gz": gz.Bytes(), ".zst": zst.Bytes()}
}

// read is the text of a file of these bytes.
func read(t *testing.T, file []byte) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, file, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Open(t.Context(), path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	return string(text), err
}

func TestAByteOrderMarkIsNoText(t *testing.T) {
	long := string(bytes.Repeat([]byte("Ann > Bob\n"), 20000))
	for text, want := range map[string]string{
		"\ufeffAnn > Bob\n": "Ann > Bob\n",
		"\ufeff" + long:     long,
		long:                long,
		"\ufeff":            "",
		"\ufeff\ufeffa":     "\ufeffa", // only the first is the mark
		"a\ufeff":           "a\ufeff",
		"\xef\xbb":          "\xef\xbb",
		"":                  "",
	} {
		for ending, file := range packed(t, text) {
			if got, err := read(t, file); got != want || err != nil {
				t.Errorf("%.20q%s: got %.20q and %v, want %.20q", text, ending, got, err, want)
			}
		}
	}
}

// The look for a mark must not hide the error that it meets.
func TestTruncatedFilesAreErrors(t *testing.T) {
	for ending, file := range packed(t, "Ann > Bob\n") {
		if ending == ".txt" {
			continue
		}
		if got, err := read(t, file[:len(file)-6]); err == nil {
			t.Errorf("%s: got %q without an error", ending, got)
		}
	}
}

// What is not text is said to be so within compression, too.
func TestForeignFilesAreNamedWithinCompression(t *testing.T) {
	for text, want := range map[string]string{"PAR1\x15\x04\x15": "the file is Parquet%s: where data are in Parquet", "\xff\xfea\x00b\x00": "the file is text in UTF-16%s: want text", "PK\x03\x04 0123456": "the file is a zip archive%s: want text"} {
		for ending, file := range packed(t, text) {
			want := fmt.Sprintf(want, map[string]string{".gz": " within gzip", ".zst": " within zstd"}[ending])
			if got, err := read(t, file); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%q%s: got %.20q and %v, want %q", text, ending, got, err, want)
			}
		}
	}
}
