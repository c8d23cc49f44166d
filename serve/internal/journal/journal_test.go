package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func opened(t *testing.T, folder string) (*Journal, []string) {
	t.Helper()
	j, warnings, err := Open(folder, "log", func(time.Duration, error) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j, warnings
}

// Append adds lines and waits for the disk.
func (j *Journal) Append(ctx context.Context, lines []byte) error {
	b, err := j.Add(lines)
	if err != nil {
		return err
	}
	select {
	case <-b.Done():
		return b.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// contents are the files of a folder, the oldest first.
func contents(t *testing.T, folder string) (all []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "log-*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	return all
}

func TestConcurrentLinesAreWholeAndInTheOrderOfTheirWriters(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "folder")
	j, _ := opened(t, folder)
	const writers, each = 16, 30
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				if err := j.Append(t.Context(), fmt.Appendf(nil, "%d %d %s\n", w, i, strings.Repeat("x", 50*w))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	found := contents(t, folder)
	if len(found) != 1 {
		t.Fatalf("%d files", len(found))
	}
	next := make([]int, writers)
	for line := range strings.Lines(found[0]) {
		var w, i int
		if n, err := fmt.Sscanf(line, "%d %d ", &w, &i); n != 2 || err != nil || i != next[w] || len(line) != len(fmt.Sprint(w, " ", i, " \n"))+50*w {
			t.Fatalf("line %q: want that with number %d", line, next[w])
		}
		next[w]++
	}
	if slices.Min(next) != each {
		t.Errorf("%v lines, want %d of each", next, each)
	}
}

// Append waits for the sync, and lines that come meanwhile share the next one.
func TestAppendReturnsAfterTheSync(t *testing.T) {
	folder := t.TempDir()
	j, _ := opened(t, folder)
	begun, proceed := make(chan int), make(chan bool)
	syncs := 0
	j.files.write = func(f *os.File, lines []byte) error {
		syncs++
		begun <- syncs
		<-proceed
		return write(f, lines)
	}
	returned := make(chan error, 10)
	add := func(line string) { go func() { returned <- j.Append(t.Context(), []byte(line)) }() }
	add("1\n")
	<-begun
	for range 9 {
		add("2\n")
	}
	for waiting := 0; waiting < 9*len("2\n"); time.Sleep(time.Millisecond) {
		j.mu.Lock()
		waiting = len(j.next.lines)
		j.mu.Unlock()
	}
	if len(returned) > 0 {
		t.Error("returned before the sync")
	}
	proceed <- true
	if err := <-returned; err != nil || len(returned) > 0 {
		t.Errorf("%v, %d more returned", err, len(returned))
	}
	<-begun
	proceed <- true
	for range 9 {
		if err := <-returned; err != nil {
			t.Error(err)
		}
	}
	if got := contents(t, folder); syncs != 2 || len(got) != 1 || got[0] != "1\n"+strings.Repeat("2\n", 9) {
		t.Errorf("%d syncs, %q", syncs, got)
	}
}

// After a sync for several lines the next one begins an interval later; a writer that is alone is not delayed.
func TestSyncsOfSeveralLinesKeepTheInterval(t *testing.T) {
	j, _ := opened(t, t.TempDir())
	j.interval = time.Hour
	for i := range 100 {
		if err := j.Append(t.Context(), fmt.Appendln(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
	j.interval = 20 * time.Millisecond
	var began []time.Time
	add := func(lines int) (last *Batch) {
		for range lines {
			var err error
			if last, err = j.Add([]byte("x\n")); err != nil {
				t.Fatal(err)
			}
		}
		return last
	}
	begun, proceed := make(chan bool), make(chan bool)
	j.files.write = func(f *os.File, lines []byte) error {
		began = append(began, time.Now())
		begun <- true
		<-proceed
		return write(f, lines)
	}
	add(1)
	<-begun
	add(3)
	proceed <- true
	<-begun
	last := add(2)
	proceed <- true
	<-begun
	proceed <- true
	if err := last.Err(); err != nil || len(began) != 3 {
		t.Fatalf("%v, %d syncs, want 3", err, len(began))
	}
	// An interval is from before the write to before the next one.
	if gap := began[2].Sub(began[1]); gap < j.interval/2 {
		t.Errorf("%v between two syncs, want about %v at least", gap, j.interval)
	}
}

// What a failed sync may have left is taken back, and the next lines come into another file.
func TestFailedSyncIsAnErrorForItsLinesAlone(t *testing.T) {
	folder := t.TempDir()
	j, _ := opened(t, folder)
	broken := errors.New("the disk is broken")
	var fail error
	j.files.write = func(f *os.File, lines []byte) error { return errors.Join(write(f, lines), fail) }
	for i, c := range []struct {
		fail error
		want []string
	}{
		{broken, nil}, // no empty file stays
		{nil, []string{"1\n"}},
		{nil, []string{"1\n2\n"}},
		{broken, []string{"1\n2\n"}},
		{nil, []string{"1\n2\n", "4\n"}},
	} {
		fail = c.fail
		if err := j.Append(t.Context(), fmt.Appendln(nil, i)); !errors.Is(err, c.fail) {
			t.Errorf("line %d: %v, want %v", i, err, c.fail)
		}
		if got := contents(t, folder); !slices.Equal(got, c.want) {
			t.Errorf("after line %d: %q, want %q", i, got, c.want)
		}
	}
}

// While the disk hangs, callers get the end of their context, and memory stays bounded.
func TestHangingDiskDelaysNobodyForEver(t *testing.T) {
	j, _ := opened(t, t.TempDir())
	begun, hangs := make(chan bool, 10), make(chan bool)
	j.files.write = func(f *os.File, lines []byte) error { begun <- true; <-hangs; return write(f, lines) }
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := j.Append(ctx, []byte("1\n")); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	<-begun
	if err := j.Append(ctx, make([]byte, mostWaiting+1)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one large text: %v", err)
	}
	if err := j.Append(ctx, []byte("3\n")); !errors.Is(err, ErrBehind) {
		t.Errorf("beyond what may wait: %v", err)
	}
	close(hangs)
	if err := j.Append(t.Context(), []byte("4\n")); err != nil && !errors.Is(err, ErrBehind) {
		t.Error(err)
	}
}

func TestNewFileBeginsBySizeAndTime(t *testing.T) {
	folder := t.TempDir()
	j, _ := opened(t, folder)
	now := time.Date(2026, 11, 23, 16, 0, 0, 0, time.UTC)
	j.files.now = func() time.Time { now = now.Add(time.Microsecond); return now }
	line := func(text string) {
		if err := j.Append(t.Context(), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	line("1\n")
	now = now.Add(mostTime - time.Minute)
	line("2\n")
	now = now.Add(time.Minute)
	line("3\n")
	j.files.size = mostBytes - 1
	line("4\n")
	line("5\n")
	if got, want := contents(t, folder), []string{"1\n2\n", "3\n4\n", "5\n"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Wherever the end of a process cuts its newest file, whole lines stay, and nothing else.
func TestTornLinesAreCutOff(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		folder, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		text := ""
		for range rapid.IntRange(0, 4).Draw(rt, "lines") {
			text += strings.Repeat("x", rapid.SampledFrom([]int{0, 5, 4095, 4096, 9000}).Draw(rt, "length")) + "\n"
		}
		text = text[:rapid.IntRange(0, len(text)).Draw(rt, "cut")]
		for name, content := range map[string]string{"log-1.jsonl": text, "other.jsonl": "not ours", "log-1.csv": "nor this"} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o666); err != nil {
				rt.Fatal(err)
			}
		}
		whole := text[:strings.LastIndexByte(text, '\n')+1]
		j, warnings, err := Open(folder, "log", func(time.Duration, error) {})
		if err != nil {
			rt.Fatal(err)
		}
		j.Close()
		if got := contents(t, folder); got[0] != whole || (len(warnings) == 1) != (whole != text) {
			rt.Errorf("%d bytes, want %d; warnings %q", len(got[0]), len(whole), warnings)
		}
		if other, err := os.ReadFile(filepath.Join(folder, "other.jsonl")); string(other) != "not ours" {
			rt.Errorf("a file of others: %q, %v", other, err)
		}
	})
}

func TestOpenErrorsAndClose(t *testing.T) {
	folder := t.TempDir()
	j, _ := opened(t, folder)
	if _, _, err := Open(folder, "log", nil); err == nil || !strings.Contains(err.Error(), "another process writes there: locked by process") {
		t.Errorf("a second journal: %v", err)
	}
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	var path *fs.PathError
	if _, _, err := Open(file, "log", nil); !errors.As(err, &path) {
		t.Errorf("a file in place of the folder: %v", err)
	}
	if err := errors.Join(j.Append(t.Context(), []byte("1\n")), j.Close(), j.Close()); err != nil {
		t.Error(err)
	}
	if err := j.Append(t.Context(), []byte("2\n")); !errors.Is(err, errClosed) {
		t.Errorf("after Close: %v", err)
	}
	opened(t, folder)
}
