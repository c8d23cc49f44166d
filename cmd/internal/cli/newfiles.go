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
	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/internal/textfile"
)

// StandardOutput stands for standard input or output in place of the name of a file.
const StandardOutput = "-"

// NewFiles are new files, which appear together and complete, or not at all. What goes to standard output is written
// when all are complete.
type NewFiles struct {
	list []*NewFile
	plot string // see CheckPlot
}

// A NewFile is one of them, for writing. A failed write stays failed, and Publish returns its error.
type NewFile struct {
	path    string
	tmp     *os.File
	release func()
	*bufio.Writer
}

// Open creates a new file, which must not exist. It returns nil if the path is empty.
func (f *NewFiles) Open(path string) (*NewFile, error) {
	if path == "" {
		return nil, nil
	}
	if same(f.plot, path) || slices.ContainsFunc(f.list, func(other *NewFile) bool { return same(other.path, path) }) {
		return nil, command.Usage(fmt.Errorf("two results are to go to %s: name a file for each", path))
	}
	tmp, release, err := (*os.File)(nil), func() {}, checkNew(path)
	if path == StandardOutput {
		if tmp, err = os.CreateTemp("", "plrank.*"); err == nil {
			os.Remove(tmp.Name()) // it lives on without a name; not on Windows, see Remove
		}
	} else if err == nil {
		if tmp, release, err = file.Create(path, 0o666); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	if err != nil {
		return nil, err
	}
	out := &NewFile{path, tmp, release, bufio.NewWriterSize(tmp, 1<<16)}
	f.list = append(f.list, out)
	return out, nil
}

// Empty discards all that was written.
func (f *NewFiles) Empty() error {
	for _, out := range f.list {
		_, err := out.tmp.Seek(0, io.SeekStart)
		if err = errors.Join(err, out.tmp.Truncate(0)); err != nil {
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
		if err = errors.Join(placeholder.Close(), out.tmp.Close()); err == nil {
			err = file.Rename(out.tmp.Name(), out.path)
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

// Remove removes what was not published.
func (f *NewFiles) Remove() {
	for _, out := range f.list {
		out.tmp.Close()
		os.Remove(out.tmp.Name())
		out.release()
	}
}

// CheckPlot returns an error if the picture exists, and a command.UsageError if its format is unknown. A command calls
// it before its work and before it opens other files, which must not be the picture.
func (f *NewFiles) CheckPlot(p Plot) error {
	switch f.plot = string(p); {
	case p == "":
		return nil
	case !slices.Contains([]string{".svg", ".png", ".pdf"}, filepath.Ext(f.plot)):
		return command.Usage(fmt.Errorf("-plot %s: want a name that ends in .svg, .png or .pdf", p))
	}
	return checkNew(f.plot)
}

// same reports whether two paths name one file, which need not exist.
func same(a, b string) bool {
	if a == "" || b == "" || a == StandardOutput || b == StandardOutput {
		return a == b
	}
	return textfile.SamePath(a, b)
}

// checkNew returns an error if a path exists, even as a link to nothing.
func checkNew(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("results go to new files: %s exists", path)
	}
	return nil
}
