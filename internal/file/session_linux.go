package file

import (
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// session returns a word for this system since it was started, which no other machine has, and nor has this one after the
// next start; "" if there is none. Containers of a system share it, as they share its locks.
var session = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if len(id) < 16 || err != nil {
		return ""
	}
	return strings.ReplaceAll(string(id[:16]), "-", "")
})

// holdLock returns a function that ends the lock of a file, which lasts longer than until its Close.
func holdLock(f *os.File) (release func()) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return func() {}
	}
	return func() { unix.Close(fd) }
}
