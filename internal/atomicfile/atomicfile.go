// Package atomicfile writes files that appear complete or not at all.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Write writes a file with what write writes, in the place of any that was
// there. An error leaves the old file or the new one, and nothing else. Without one,
// the new file is on the disk and stays there if the machine goes down.
func Write(path string, write func(io.Writer) error) error {
	err := replace(path, write, func(f *os.File) error { return do("sync", path, f.Sync) })
	if err != nil {
		return err
	}
	return syncFolder(path)
}

// WriteUnsynced is Write without waiting for the disk: if the machine goes down, the
// file may be there with other bytes. It is for large files whose readers check
// every byte, and that can be made again.
func WriteUnsynced(path string, write func(io.Writer) error) error {
	return replace(path, write, func(*os.File) error { return nil })
}

func replace(path string, write func(io.Writer) error, sync func(*os.File) error) (err error) {
	var f *os.File
	err = do("create", path, func() (err error) {
		f, err = os.CreateTemp(filepath.Dir(path), temporary(path)+"*")
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("%s: %w", path, err)
		}
	}()
	if err := write(file{f, path}); err != nil {
		return err
	}
	// CreateTemp makes files that only their owner can read.
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := sync(f); err != nil {
		return err
	}
	if err := do("close", path, f.Close); err != nil {
		return err
	}
	return do("rename", path, func() error { return os.Rename(f.Name(), path) })
}

// Rename gives a file another name, in the place of any that was there. Without an
// error, this stays so if the machine goes down.
func Rename(from, to string) error {
	if err := do("rename", to, func() error { return os.Rename(from, to) }); err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	return syncFolder(to)
}

// Leftovers are the files that writes of path have left that were cut off by the end
// of the program.
func Leftovers(path string) []string {
	entries, _ := os.ReadDir(filepath.Dir(path)) // a folder that cannot be read: none
	var left []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), temporary(path)) {
			left = append(left, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	return left
}

// temporary is how the name of a file begins that is not yet complete.
func temporary(path string) string { return "." + filepath.Base(path) + "." }

// syncFolder makes the disk remember the name of a new file.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" { // where folders cannot be synced
		return nil
	}
	err := do("sync folder", path, func() error {
		d, err := os.Open(filepath.Dir(path))
		if err != nil {
			return err
		}
		return errors.Join(d.Sync(), d.Close())
	})
	if err != nil {
		return fmt.Errorf("%s: sync the folder: %w", path, err)
	}
	return nil
}
