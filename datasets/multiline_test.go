package datasets

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plrank/plrank/datasets/internal/reader"
)

// A text of commas, quotes and line breaks comes back as package csv wrote it, however the file is cut into chunks.
func TestQuotedFieldsSpanLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.csv")
	rapid.Check(t, func(r *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringMatching(`[a,"\n; ]{0,12}b`), 3, 30).Draw(r, "texts")
		var file strings.Builder
		w := csv.NewWriter(&file)
		_ = w.Write([]string{"text", "label", "qid", "x"})
		for i, text := range texts {
			_ = w.Write([]string{text, "1", "q", fmt.Sprint(i)})
		}
		w.Flush()
		if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
			r.Fatal(err)
		}
		d, err := readFile(path, reader.FileOptions{Options: reader.Options{Categorical: []string{"text"}}, ChunkSize: rapid.IntRange(1, 200).Draw(r, "chunk")})
		if err != nil || d.Rows() != len(texts) {
			r.Fatalf("%v\n%s", err, &file)
		}
		for i, text := range texts {
			if got := d.Levels[0][int(d.Features[2*i])-1]; got != text || d.Features[2*i+1] != float32(i) {
				r.Fatalf("row %d: %q, want %q", i, got, text)
			}
		}
	})
}

// Faults after a field of several lines are at their own line, and an open quote at the line where its row begins. A quote
// within a field without quotes opens nothing.
func TestLinesAreCountedWithinFields(t *testing.T) {
	for file, want := range map[string]string{
		"label,qid,text,x\n1,a,\"two\r\nlines\",3\n0,a,b,4\n0,a,c,?5\n":                       "f:5: column \"x\"",
		"label,qid,text,x\n1,a,\"never\n0,a,b,4\n0,a,c,5\n":                                   "f:2: column \"text\": a quoted field without its closing quote",
		"label,qid,text,x\n0,a,b,4\n1,a,\"" + strings.Repeat("long\n", 1<<18) + "0,a,c\",5\n": "f:3: column \"text\": a quoted field without its closing quote",
		"label,qid,text,x\n1,a,5\" screen,3\n0,a,\"b\"c,4\n":                                  "f:3: column \"text\": text after a quoted field",
	} {
		path := dataFile(t, "f", file)
		_, err := readFile(path, reader.FileOptions{Options: reader.Options{Ignore: []string{"text"}}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.300v\nwant %s", err, want)
		}
	}
}
