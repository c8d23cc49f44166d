//go:build !unix

package file

import "os"

// Map reads a file; see mapped_unix.go.
func Map(path string) ([]byte, error) { return os.ReadFile(path) }

// Unmap does nothing.
func Unmap([]byte) {}
