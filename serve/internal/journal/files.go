package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/plrank/plrank/internal/file"
)

// A new file begins when the last one reaches this size or age.
const (
	mostBytes = 256 << 20
	mostTime  = time.Hour
)

// files appends lines to the newest file of a folder.
type files struct {
	folder, prefix string

	now   func() time.Time
	write func(f *os.File, lines []byte) error // to the disk

	newest *os.File // nil: none is open
	began  time.Time
	size   int64 // on the disk
}

func newFiles(folder, prefix string) files {
	return files{folder: filepath.Clean(folder), prefix: prefix, now: time.Now, write: write}
}

func (f *files) path(name string) string { return filepath.Join(f.folder, name) }

// ending ends the names of files.
const ending = ".jsonl"

// makeFolder makes the folder, with the permissions that the umask leaves.
func (f *files) makeFolder() error {
	if err := os.MkdirAll(f.folder, 0o777); err != nil {
		return err
	}
	return file.SyncFolder(f.folder)
}

// append writes whole lines to the disk. After an error none of them is there, and the next lines go to a new file:
// after a failed sync nobody knows which parts of the old one are on the disk.
func (f *files) append(lines []byte) error {
	if f.newest != nil && (f.size >= mostBytes || f.now().Sub(f.began) >= mostTime) {
		if err := f.close(); err != nil {
			return err
		}
	}
	if f.newest == nil {
		if err := f.begin(); err != nil {
			return err
		}
	}
	if err := f.write(f.newest, lines); err != nil {
		return errors.Join(err, f.abandon())
	}
	f.size += int64(len(lines))
	return nil
}

// begin makes a new file.
func (f *files) begin() (err error) {
	for f.newest == nil {
		f.began = f.now()
		name := f.prefix + "-" + f.began.UTC().Format("20060102T150405.000000Z") + ending
		f.newest, err = os.OpenFile(f.path(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL|synced, 0o666)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	f.size = 0
	if err := file.SyncFolder(f.newest.Name()); err != nil {
		return errors.Join(err, f.abandon())
	}
	return nil
}

// abandon removes the lines that may not be on the disk, and closes the file. If part of a line is left, mend cuts it
// off at the next start.
func (f *files) abandon() error {
	path, err := f.newest.Name(), f.newest.Truncate(f.size)
	if f.close(); f.size == 0 {
		return os.Remove(path)
	}
	return err
}

func (f *files) close() error {
	if f.newest == nil {
		return nil
	}
	err := f.newest.Close()
	f.newest = nil
	return err
}

// mend cuts off unfinished lines at the ends of files, and returns a warning for each.
func (f *files) mend() (told []string, err error) {
	entries, err := os.ReadDir(f.folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), f.prefix+"-") || !strings.HasSuffix(e.Name(), ending) {
			continue
		}
		n, err := cutTorn(f.path(e.Name()))
		if err != nil {
			return nil, err
		}
		if n > 0 {
			told = append(told, fmt.Sprintf("%s ended in a torn line, which had not been accepted: %d bytes were cut off", f.path(e.Name()), n))
		}
	}
	return told, nil
}

// cutTorn cuts off what follows the last end of a line, and returns its length. It does not sync: if the cut is lost, the
// next start repeats it.
func cutTorn(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	block := make([]byte, 1<<12)
	end := info.Size()
	for end > 0 {
		from := max(0, end-int64(len(block)))
		part := block[:end-from]
		if _, err := f.ReadAt(part, from); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			end = from + int64(i) + 1
			break
		}
		end = from
	}
	if end == info.Size() {
		return 0, nil
	}
	return info.Size() - end, os.Truncate(path, end)
}
