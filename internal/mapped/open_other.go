//go:build !unix

package mapped

import "os"

// Open reads a file; see open_unix.go.
func Open(path string) ([]byte, error) { return os.ReadFile(path) }

// Close has nothing to do.
func Close([]byte) {}
