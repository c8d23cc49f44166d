//go:build !linux

package file

import "os"

// There is nothing to do; see resident_linux.go.

func watch() {}

func Relieve() {}

func WillRead(*os.File, int64, int64) {}

func WillNeed([]byte) {}
