//go:build unix

package file

import (
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// Map maps a file into memory, read-only and shared with every process that does the
// same, until it is closed.
func Map(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() == 0 || int64(int(info.Size())) != info.Size() {
		return nil, fmt.Errorf("%s: %d bytes cannot be mapped", path, info.Size())
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("%s: map: %w", path, err)
	}
	keep(path, b)
	return b, nil
}

// Unmap undoes Open; nothing may use the bytes any more.
func Unmap(b []byte) {
	mutex.Lock()
	defer mutex.Unlock()
	mappings = slices.DeleteFunc(mappings, func(f mapping) bool { return &f.bytes[0] == &b[0] })
	_ = unix.Munmap(b) // it fails for bytes that were never mapped alone
}
