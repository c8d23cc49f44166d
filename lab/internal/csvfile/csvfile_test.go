package csvfile

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestReadGivesWhatWriteWrote(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	columns, rows := []string{"name", "value"}, [][]string{{`a, "b"`, "1"}, {"c", "2"}}
	if err := Write(path, append([][]string{columns}, rows...)); err != nil {
		t.Fatal(err)
	}
	gotColumns, gotRows, err := Read(path)
	if err != nil || !reflect.DeepEqual(gotColumns, columns) || !reflect.DeepEqual(gotRows, rows) {
		t.Errorf("%q, %q, %v", gotColumns, gotRows, err)
	}
}

func TestFilesThatAreNoTableAreErrors(t *testing.T) {
	for want, text := range map[string]string{"has no rows": "name,value\n", "wrong number of fields": "a,b\n1\n"} {
		path := filepath.Join(t.TempDir(), "a.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Read(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v, want an error with %q", text, err, want)
		}
	}
}
