//go:build !linux

package mapped

import "os"

func watch() {}

// Relieve has nothing to do; see resident_linux.go.
func Relieve() {}

// WillRead has nothing to do; see resident_linux.go.
func WillRead(*os.File, int64, int64) {}

// Done has nothing to do; see resident_linux.go.
func Done([]byte) {}

// WillNeed has nothing to do; see resident_linux.go.
func WillNeed([]byte) {}
