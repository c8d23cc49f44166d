package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestOneHolderAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := TakeLock(path)
	if err != nil {
		t.Fatal(err)
	}
	var held *LockHeldError
	if _, err := TakeLock(path); !errors.As(err, &held) || !strings.HasPrefix(held.Owner, fmt.Sprintf("process %d on ", os.Getpid())) {
		t.Errorf("a second one: %v", err)
	}
	first.Release()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file stays: %v", err)
	}
	// What a process leaves that was killed.
	if err := os.WriteFile(path, []byte("process 0 on nowhere, since long ago and for ever and a day\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	second, err := TakeLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := TakeLock(path); !errors.As(err, &held) || !strings.HasPrefix(held.Owner, fmt.Sprintf("process %d on ", os.Getpid())) || strings.Contains(held.Owner, "day") {
		t.Errorf("after a crash: %v", err)
	}
	second.Release()
}

// What is released again may be another's by then.
func TestSecondReleaseDoesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := TakeLock(path)
	if err != nil {
		t.Fatal(err)
	}
	first.Release()
	second, err := TakeLock(path)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Release()
	first.Release()
	var held *LockHeldError
	if third, err := TakeLock(path); !errors.As(err, &held) {
		t.Errorf("a third holder while the second one has it: %v, %v", third, err)
	}
}

// The file comes and goes with its holders, and never has two of them.
func TestManyTakeAndRelease(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var holders, turns atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 300 {
				l, err := TakeLock(path)
				var held *LockHeldError
				if errors.As(err, &held) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d holders", n)
				}
				turns.Add(1)
				holders.Add(-1)
				l.Release()
			}
		})
	}
	all.Wait()
	if turns.Load() == 0 {
		t.Error("nobody got it")
	}
}

func TestErrorsOfTake(t *testing.T) {
	if _, err := TakeLock(filepath.Join(t.TempDir(), "none", "lock")); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNoLocks) {
		t.Errorf("a folder that is missing: %v", err)
	}
	pipe, _, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	pipe.Close()
	if taken, err := try(pipe); taken || err == nil {
		t.Errorf("a file that is closed: %v, %v", taken, err)
	}
}
