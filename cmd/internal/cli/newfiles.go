package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/textfile"
)

// StandardOutput is standard input or output in the place of a file.
const StandardOutput = "-"

// NewFiles are new files, which appear together and complete, or not at all. What goes to
// standard output does so when they are complete.
type NewFiles struct {
	list []*NewFile
	plot string // see CheckPlot
}

// A NewFile is one of them, to be written to. A failed write stays failed, and is the error of
// Publish.
type NewFile struct {
	path string
	tmp  *os.File
	*bufio.Writer
}

// Open makes a new file, which must not exist; nil without a path.
func (f *NewFiles) Open(path string) (*NewFile, error) {
	if path == "" {
		return nil, nil
	}
	taken := same(f.plot, path)
	for _, other := range f.list {
		taken = taken || same(other.path, path)
	}
	if taken {
		return nil, command.Usage(fmt.Errorf("two results are to go to %s: name a file for each", path))
	}
	folder, name := os.TempDir(), "plrank"
	if path != StandardOutput {
		if err := checkNew(path); err != nil {
			return nil, err
		}
		folder, name = filepath.Dir(path), "."+filepath.Base(path)
	}
	tmp, err := os.CreateTemp(folder, name+".*")
	if err != nil {
		return nil, err
	}
	out := &NewFile{path, tmp, bufio.NewWriterSize(tmp, 1<<16)}
	f.list = append(f.list, out)
	return out, nil
}

// Empty takes back all that was written.
func (f *NewFiles) Empty() error {
	for _, out := range f.list {
		if err := out.tmp.Truncate(0); err != nil {
			return err
		}
		if _, err := out.tmp.Seek(0, io.SeekStart); err != nil {
			return err
		}
		out.Reset(out.tmp)
	}
	return nil
}

// Publish gives the files their names, and copies to standard output what goes there.
func (f *NewFiles) Publish(stdout io.Writer) (err error) {
	var made []string
	defer func() {
		if err != nil {
			for _, path := range made {
				os.Remove(path)
			}
		}
	}()
	for _, out := range f.list {
		if err := errors.Join(out.Flush(), out.tmp.Sync()); err != nil {
			return fmt.Errorf("%s: %w", out.path, err)
		}
	}
	for _, out := range f.list {
		if out.path == StandardOutput {
			continue
		}
		// An empty file of that name is ours alone, and can be replaced.
		placeholder, err := os.OpenFile(out.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return fmt.Errorf("results go to new files: %w", err)
		}
		made = append(made, out.path)
		info, err := placeholder.Stat()
		placeholder.Close()
		if err == nil {
			err = out.tmp.Chmod(info.Mode())
		}
		if err = errors.Join(err, out.tmp.Close()); err == nil {
			err = os.Rename(out.tmp.Name(), out.path)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", out.path, err)
		}
	}
	for _, out := range f.list {
		if out.path == StandardOutput {
			if _, err := out.tmp.Seek(0, io.SeekStart); err != nil {
				return err
			}
			if _, err := io.Copy(stdout, out.tmp); err != nil {
				return err
			}
		}
	}
	return nil
}

// Remove takes away what was not published.
func (f *NewFiles) Remove() {
	for _, out := range f.list {
		out.tmp.Close()
		os.Remove(out.tmp.Name())
	}
}

// CheckPlot is an error for a plot of no known format, a command.UsageError, or one that exists. A
// command calls it before its work, and before it opens other files, which cannot be the plot. The empty path
// is no plot.
func (f *NewFiles) CheckPlot(path string) error {
	f.plot = path
	switch {
	case path == "":
		return nil
	case !slices.Contains([]string{".svg", ".png", ".pdf"}, filepath.Ext(path)):
		return command.Usage(fmt.Errorf("-plot %s: want a name that ends in .svg, .png or .pdf", path))
	}
	return checkNew(path)
}

// same tells whether two paths are one file, which need not exist, in one folder.
func same(a, b string) bool {
	if a == "" || b == "" || a == StandardOutput || b == StandardOutput {
		return a == b
	}
	return textfile.SamePath(a, b)
}

// checkNew is an error for a path that exists, be it a link to nothing.
func checkNew(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("results go to new files: %s exists", path)
	}
	return nil
}
