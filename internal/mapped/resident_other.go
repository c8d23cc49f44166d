//go:build !linux

package mapped

func watch(int) {}

// WillNeed has nothing to do; see resident_linux.go.
func WillNeed([]byte) {}
