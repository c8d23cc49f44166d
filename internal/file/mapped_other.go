//go:build !unix

package file

import (
	"io"
	"os"
)

// Map reads a file; see mapped_unix.go.
func Map(path string) ([]byte, error) { return os.ReadFile(path) }

// MapOpen reads a file from its beginning.
func MapOpen(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, info.Size())
	_, err = io.ReadFull(io.NewSectionReader(f, 0, info.Size()), b)
	return b, err
}

// Unmap does nothing.
func Unmap([]byte) {}
