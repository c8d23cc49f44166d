//go:build !linux

package mapped

func watch() {}

// Relieve has nothing to do; see resident_linux.go.
func Relieve() {}

// WillNeed has nothing to do; see resident_linux.go.
func WillNeed([]byte) {}
