//go:build !linux

package mapped

func watch() {}

// WillNeed has nothing to do; see resident_linux.go.
func WillNeed([]byte) {}
