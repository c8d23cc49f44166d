//go:build unix

package file

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A new file has the permissions that the umask leaves, one that is replaced keeps its own,
// and neither has more while it is being written.
func TestPermissions(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	for _, c := range []struct {
		umask     int
		old, most fs.FileMode // old 0: there is none
		want      fs.FileMode
	}{
		{0o022, 0, 0o666, 0o644},
		{0o002, 0, 0o666, 0o664},
		{0o077, 0, 0o666, 0o600},
		{0o022, 0, 0o600, 0o600},
		{0o022, 0, 0o664, 0o644},
		{0o022, 0o600, 0o666, 0o600},
		{0o077, 0o644, 0o666, 0o644},
		{0o022, 0o664, 0o666, 0o664},
		{0o022, 0o644, 0o600, 0o600},
		{0o022, 0o640, 0o666, 0o640},
	} {
		for name, write := range map[string]func(string, func(io.Writer) error) error{
			"Write":         Write,
			"WriteUnsynced": func(path string, f func(io.Writer) error) error { return WriteUnsynced(path, c.most, f) },
		} {
			if name == "Write" && c.most != everyone {
				continue
			}
			path := filepath.Join(t.TempDir(), "f")
			if c.old != 0 {
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(path, c.old); err != nil {
					t.Fatal(err)
				}
			}
			mode := func(path string) fs.FileMode {
				info, err := os.Stat(path)
				if err != nil {
					t.Fatal(err)
				}
				return info.Mode().Perm()
			}
			syscall.Umask(c.umask)
			var during fs.FileMode
			err := write(path, func(io.Writer) error {
				during = mode(Leftovers(path)[0])
				return nil
			})
			syscall.Umask(0)
			if got := mode(path); err != nil || got != c.want || during != c.want {
				t.Errorf("%s, umask %03o, old file %03o, at most %03o: %03o, while it is written %03o, want %03o; %v", name, c.umask, c.old, c.most, got, during, c.want, err)
			}
		}
	}
}
