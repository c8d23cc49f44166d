package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/plrank/plrank/internal/command"
)

// outputs are new files, which appear together and complete, or not at all. What goes to
// standard output does so when they are complete.
type outputs struct{ list []*output }

type output struct {
	path string
	tmp  *os.File
	*bufio.Writer
}

// open makes a new file, which must not exist; nil without a path.
func (o *outputs) open(path string) (*output, error) {
	if path == "" {
		return nil, nil
	}
	for _, other := range o.list {
		if filepath.Clean(other.path) == filepath.Clean(path) {
			return nil, command.Usage(fmt.Errorf("two results are to go to %s: name a file for each", path))
		}
	}
	folder, name := os.TempDir(), "plrank"
	if path != standard {
		if _, err := os.Lstat(path); err == nil {
			return nil, fmt.Errorf("train: results go to new files: %s exists", path)
		}
		folder, name = filepath.Dir(path), "."+filepath.Base(path)
	}
	tmp, err := os.CreateTemp(folder, name+".*")
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	out := &output{path, tmp, bufio.NewWriterSize(tmp, 1<<16)}
	o.list = append(o.list, out)
	return out, nil
}

// empty takes back all that was written.
func (o *outputs) empty() error {
	for _, out := range o.list {
		if err := out.tmp.Truncate(0); err != nil {
			return fmt.Errorf("train: %w", err)
		}
		if _, err := out.tmp.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("train: %w", err)
		}
		out.Reset(out.tmp)
	}
	return nil
}

// publish gives the files their names, and copies to standard output what goes there.
func (o *outputs) publish(stdout io.Writer) (err error) {
	var made []string
	defer func() {
		if err != nil {
			for _, path := range made {
				os.Remove(path)
			}
		}
	}()
	for _, out := range o.list {
		if err := errors.Join(out.Flush(), out.tmp.Sync()); err != nil {
			return fmt.Errorf("train: %s: %w", out.path, err)
		}
	}
	for _, out := range o.list {
		if out.path == standard {
			continue
		}
		// An empty file of that name is ours alone, and can be replaced.
		f, err := os.OpenFile(out.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return fmt.Errorf("train: results go to new files: %w", err)
		}
		made = append(made, out.path)
		info, err := f.Stat()
		f.Close()
		if err == nil {
			err = out.tmp.Chmod(info.Mode())
		}
		if err = errors.Join(err, out.tmp.Close()); err == nil {
			err = os.Rename(out.tmp.Name(), out.path)
		}
		if err != nil {
			return fmt.Errorf("train: %s: %w", out.path, err)
		}
	}
	for _, out := range o.list {
		if out.path == standard {
			if _, err := out.tmp.Seek(0, io.SeekStart); err != nil {
				return fmt.Errorf("train: %w", err)
			}
			if _, err := io.Copy(stdout, out.tmp); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove takes away what was not published.
func (o *outputs) remove() {
	for _, out := range o.list {
		out.tmp.Close()
		os.Remove(out.tmp.Name())
	}
}
