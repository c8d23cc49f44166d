//go:build !unix

package datasets

import "os"

// mapFile reads a file; see map_unix.go.
func mapFile(path string) ([]byte, error) { return os.ReadFile(path) }

func unmapFile([]byte) {}
