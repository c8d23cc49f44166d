package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// Write writes a file with what write writes, in the place of any that was
// there, whose permissions it keeps; a new file has the permissions that the umask leaves. An error
// leaves the old file or the new one, and nothing else. Without one, the new file is on the
// disk and stays there if the machine goes down.
func Write(path string, write func(io.Writer) error) error {
	err := replace(path, everyone, func(f faultyFile) error {
		if err := write(f); err != nil {
			return err
		}
		return do("sync", path, f.f.Sync)
	})
	if err != nil {
		return err
	}
	return SyncFolder(path)
}

// WriteUnsynced is Write without waiting for the disk: if the machine goes down, the
// file may be there with other bytes. It is for large files whose readers check
// every byte, and that can be made again. The file gets no permissions beyond most.
func WriteUnsynced(path string, most fs.FileMode, write func(io.Writer) error) error {
	return replace(path, most, func(f faultyFile) error { return write(f) })
}

// everyone may read and write a file, if the umask lets them.
const everyone fs.FileMode = 0o666

func replace(path string, most fs.FileMode, write func(faultyFile) error) (err error) {
	mode, kept := most, false
	if old, err := os.Stat(path); err == nil {
		mode, kept = old.Mode().Perm()&most, true
	}
	var f *os.File
	var release func()
	err = do("create", path, func() (err error) {
		f, release, err = Create(path, mode)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer release()
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("%s: %w", path, err)
		}
	}()
	if info, err := f.Stat(); kept && err == nil && info.Mode().Perm() != mode { // for the umask
		if err := f.Chmod(mode); err != nil {
			return err
		}
	}
	if err := write(faultyFile{f, path}); err != nil {
		return err
	}
	if err := do("close", path, f.Close); err != nil {
		return err
	}
	return do("rename", path, func() error { return os.Rename(f.Name(), path) })
}

// Create makes a file of a new name, which is to have the path in the end. It never has more permissions than in the
// end. The caller calls release when the file has its path, or was removed: until then it is locked. Create removes such
// files of the path whose programs are gone, as after kill -9. Its error names no file.
func Create(path string, mode fs.FileMode) (f *os.File, release func(), err error) {
	removeAbandoned(path)
	for {
		name := filepath.Join(filepath.Dir(path), temporary(path)+session()+"-"+strconv.FormatUint(rand.Uint64(), 36))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, nil, errors.Unwrap(err)
		}
		if session() == "" {
			return f, func() {}, nil
		}
		if locked(f, name) {
			return f, holdLock(f), nil
		}
		f.Close() // it was taken for abandoned before it was locked
	}
}

// locked locks a new file, and reports whether it still has its name. Where there are no locks, nobody takes it for abandoned.
func locked(f *os.File, name string) bool {
	taken, err := try(f)
	return err != nil || taken && is(f, name)
}

// removeAbandoned removes files of that path that are not yet complete, if they are certainly of a program that is gone: of
// this system since it was started, and not locked.
func removeAbandoned(path string) {
	if session() == "" {
		return
	}
	for _, left := range Leftovers(path) {
		if !strings.HasPrefix(filepath.Base(left), temporary(path)+session()+"-") {
			continue
		}
		if f, err := os.OpenFile(left, os.O_RDWR, 0); err == nil {
			if taken, err := try(f); err == nil && taken && is(f, left) {
				os.Remove(left)
			}
			f.Close()
		}
	}
}

// Rename gives a file another name, in the place of any that was there. Without an
// error, this stays so if the machine goes down.
func Rename(from, to string) error {
	if err := do("rename", to, func() error { return os.Rename(from, to) }); err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	return SyncFolder(to)
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

// SyncFolder makes the disk remember the name of a new file or folder.
func SyncFolder(path string) error {
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
