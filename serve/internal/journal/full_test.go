//go:build linux || darwin

package journal

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// limitFiles limits the files of this process to this many bytes until the test ends.
func limitFiles(t *testing.T, bytes uint64) (lift func()) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	limited := before
	limited.Cur = bytes
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limited); err != nil {
		t.Fatal(err)
	}
	lift = func() { syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before) }
	t.Cleanup(lift)
	return lift
}

// Lines that the disk has no room for are an error, and leave no torn line. Those before stay.
func TestFullDiskLeavesNoTornLine(t *testing.T) {
	folder := t.TempDir()
	j, _ := opened(t, folder)
	add := func(line string) error { return j.Append(t.Context(), []byte(line)) }
	long := strings.Repeat("x", 600) + "\n"
	if err := add(long); err != nil {
		t.Fatal(err)
	}
	lift := limitFiles(t, 1000)
	errs := []error{add(long), add(long + long), add(long)} // the second file has room for the last
	lift()
	if !errors.Is(errs[0], syscall.EFBIG) || !errors.Is(errs[1], syscall.EFBIG) || errs[2] != nil {
		t.Errorf("%v, want two errors", errs)
	}
	if err := add(long); err != nil {
		t.Error(err)
	}
	if got, want := contents(t, folder), []string{long, long + long}; !slices.Equal(got, want) {
		t.Errorf("%.2000q, want %q", got, want)
	}
}
