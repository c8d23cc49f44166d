//go:build linux

package file

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// asWriter is the environment variable of a child that begins to write a file, says so, and never ends.
const asWriter = "PLRANK_TEST_FILE"

func TestMain(m *testing.M) {
	if path := os.Getenv(asWriter); path != "" {
		Write(path, func(w io.Writer) error {
			io.WriteString(w, "half")
			fmt.Println("writing")
			select {}
		})
	}
	os.Exit(m.Run())
}

// What a killed program leaves beside a file is removed by the next write of the file, but not while the program runs.
func TestNextWriteRemovesWhatKilledProgramsLeave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	writer := exec.Command(os.Args[0])
	writer.Env = append(os.Environ(), asWriter+"="+path)
	out, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	defer writer.Process.Kill()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	write := func() (left []string) {
		if err := Write(path, func(io.Writer) error { return nil }); err != nil {
			t.Fatal(err)
		}
		return Leftovers(path)
	}
	if left := write(); len(left) != 1 {
		t.Fatalf("while another program writes: %q, want its file", left)
	}
	writer.Process.Kill()
	writer.Wait()
	if left := Leftovers(path); len(left) != 1 {
		t.Fatalf("after a kill: %q", left)
	}
	if left := write(); left != nil {
		t.Errorf("the next write leaves %q", left)
	}
}

// What may be of another machine, of another file or of an older version stays.
func TestNextWriteRemovesNothingOfOthers(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	var want []string
	for _, name := range []string{".f.0123456789abcde-x", ".f.1a2b3c", ".f.2." + session() + "-x", ".g." + session() + "-x", ".f." + session(), "f." + session() + "-x"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		want = append(want, name)
	}
	if err := os.WriteFile(filepath.Join(dir, ".f."+session()+"-dead"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, func(io.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	want = append(want, "f")
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Writers of one file at the same time do not take each other's for abandoned.
func TestManyWriteOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 100 {
				err := WriteUnsynced(path, everyone, func(w io.Writer) error {
					_, err := fmt.Fprint(w, i)
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if left := Leftovers(path); left != nil {
		t.Errorf("left %q", left)
	}
}
