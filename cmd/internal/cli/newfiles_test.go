package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/file"
)

// writeTheirs makes a file of somebody else.
func writeTheirs(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// isTheirs reports whether the file is still as writeTheirs wrote it.
func isTheirs(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && string(text) == "theirs"
}

// What somebody else wrote while documents were scored is not overwritten.
func TestPublishOverwritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scores")
	var files NewFiles
	out, err := files.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(out, "mine")
	writeTheirs(t, path)
	err = files.Publish(io.Discard)
	files.Remove()
	if err == nil || !strings.Contains(err.Error(), "exists") || !isTheirs(path) {
		t.Errorf("%v, theirs %t", err, isTheirs(path))
	}
	if found, _ := os.ReadDir(filepath.Dir(path)); len(found) != 1 {
		t.Errorf("files %v", found)
	}
}

// What a killed program leaves beside a new file is gone when the next one writes the file, but not while another one writes it.
func TestOpenRemovesWhatKilledProgramsLeave(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("nobody knows which files are of this system")
	}
	path := filepath.Join(t.TempDir(), "scores")
	open := func() (out *NewFile, others int) {
		t.Helper()
		var files NewFiles
		out, err := files.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return out, len(file.Leftovers(path)) - 1
	}
	killed, _ := open()
	second, others := open()
	if others != 1 {
		t.Errorf("%d files of others while another program writes, want 1", others)
	}
	for _, out := range []*NewFile{killed, second} { // as the system does when a program ends
		out.tmp.Close()
		out.release()
	}
	if _, others := open(); others != 0 {
		t.Errorf("%d files of others after they ended", others)
	}
	var files NewFiles
	out, err := files.Open(StandardOutput)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Remove()
	if _, err := os.Stat(out.tmp.Name()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is for standard output has a name: %v", err)
	}
	io.WriteString(out, "text")
	var text strings.Builder
	if err := files.Publish(&text); err != nil || text.String() != "text" {
		t.Errorf("%q, %v", &text, err)
	}
}

// A plot has an ending that is known, and overwrites nothing: neither a file nor a link to one that is gone.
func TestPlotIsANewPicture(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "a.svg"), filepath.Join(dir, "b.svg")
	writeTheirs(t, file)
	if err := os.Symlink(filepath.Join(dir, "gone"), link); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{
		"":                             "",
		filepath.Join(dir, "new.pdf"):  "",
		file:                           file + " exists",
		link:                           link + " exists",
		filepath.Join(dir, "plot.txt"): "ends in .svg, .png or .pdf",
	} {
		err := new(NewFiles).CheckPlot(Plot(path))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", path, err, want)
		}
		if usage := errors.As(err, new(command.UsageError)); usage != (filepath.Ext(path) == ".txt") {
			t.Errorf("%q: a usage error: %t", path, usage)
		}
	}
}

// Two results do not go to one file, however it is named; the plot is one of them.
func TestEachResultHasItsFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{"a.svg", "./a.svg", filepath.Join(dir, "a.svg"), filepath.Join(link, "a.svg")} {
		var plotted, opened NewFiles
		defer opened.Remove()
		if err := plotted.CheckPlot("a.svg"); err != nil {
			t.Fatal(err)
		}
		_, plotErr := plotted.Open(path)
		if _, err := opened.Open("a.svg"); err != nil {
			t.Fatal(err)
		}
		_, err := opened.Open(path)
		for _, err := range []error{plotErr, err} {
			if !errors.As(err, new(command.UsageError)) || !strings.Contains(err.Error(), "two results are to go to "+path) {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	var files NewFiles
	defer files.Remove()
	if _, err := files.Open("b.svg"); err != nil || files.CheckPlot("a.svg") != nil {
		t.Errorf("two files: %v", err)
	}
}
