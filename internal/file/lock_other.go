//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package file

import (
	"errors"
	"os"
)

// try returns an error on systems without such locks.
func try(*os.File) (bool, error) { return false, errors.ErrUnsupported }
