package serve

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/ranker"
)

// A changed file is a new model even if its time and size are the same, whether it was written
// in place or renamed. The version in the answer is the digest of the content.
func TestModelChangeOfSameTimeAndSizeIsSeen(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "m.npz"), filepath.Join(dir, "other.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := tested(t, Options{Models: only(path)})
	seen := map[string]bool{}
	check := func(score string) {
		t.Helper()
		if now, err := os.Stat(path); err != nil || now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime()) {
			t.Fatal("the test makes files of other times or sizes", err)
		}
		s.refresh(false)
		m, err := ranker.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		answer := post(s, `{"documents": [[1, 1, 1]]}`).Body.String()
		if !strings.Contains(answer, `"version":"`+m.Digest()+`"`) || !strings.Contains(answer, `"scores":[`+score+`]`) {
			t.Errorf("%s: want the score %s of version %s", answer, score, m.Digest())
		}
		seen[m.Digest()] = true
	}
	check("6")
	text := func(path string) []byte {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	testkit.LinearModel(t, other, 10, 20, 30)
	if err := os.WriteFile(path, text(other), 0o644); err != nil { // in place
		t.Fatal(err)
	}
	os.Chtimes(path, before.ModTime(), before.ModTime())
	check("60")
	testkit.LinearModel(t, other, 4, 4, 4)
	os.Chtimes(other, before.ModTime(), before.ModTime())
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	check("12")
	if len(seen) != 3 {
		t.Errorf("versions %v, want three", seen)
	}
}

// An error of a file is logged once, however often the file is looked at, and again after the
// file was good.
func TestModelErrorsAreLoggedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	s, logged := tested(t, Options{Models: only(path)})
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, c := range []struct {
			data []byte // nil: no file
			want string
		}{{nil, "no such file"}, {[]byte("no model"), "not a model.npz, or a model of"}, {good, ""}} {
			os.Remove(path)
			if c.data != nil {
				if err := os.WriteFile(path, c.data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			logged.Reset()
			for range 5 {
				s.refresh(false)
			}
			text, lines := logged.String(), 1
			if c.want == "" {
				lines = 0 // it is the model that is served
			}
			if strings.Count(text, "\n") != lines || !strings.Contains(text, c.want) {
				t.Errorf("logged %q, want %d line with %q", text, lines, c.want)
			}
		}
	}
}

// The first failed requests of a status are logged, the others are counted: clients cannot fill the log.
func TestFailedRequestsAreLoggedAtABoundedRate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	s, logged := tested(t, Options{Models: only(path), Limits: Limits{Requests: 1}})
	logged.Reset()
	fail := func() {
		for range 100 {
			if w := post(s, "["); w.Code != http.StatusBadRequest {
				t.Fatal(w.Code)
			}
			s.inFlight.TryAcquire(1)
			if w := post(s, "["); w.Code != http.StatusServiceUnavailable {
				t.Fatal(w.Code)
			}
			s.inFlight.Release(1)
		}
	}
	for range 2 { // minutes
		fail()
		text := logged.String()
		lines := [3]int{strings.Count(text, "\n"), strings.Count(text, "status=400"), strings.Count(text, "status=503")}
		if lines != [3]int{2 * mostFailures, mostFailures, mostFailures} {
			t.Errorf("logged %q, want %d lines of each status", text, mostFailures)
		}
		logged.Reset()
		s.failures.flush(s.log)
		const want = "msg=\"more requests got status 400\" count=90 within=1m0s\nmsg=\"more requests got status 503\" count=90 within=1m0s\n"
		if text := logged.String(); text != want {
			t.Errorf("logged %q, want %q", text, want)
		}
		logged.Reset()
		if s.failures.flush(s.log); logged.Len() > 0 {
			t.Errorf("logged %q after a minute without failures", logged)
		}
	}
}

// A large file with the same time and size is not read at every look, but in the end.
func TestLargeFilesAreReadLessOften(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large")
	data := bytes.Repeat([]byte("x"), largeFile+1)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f := file{path: path}
	digest := func(always bool) string {
		sum, err := f.digest(always)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	first := digest(false)
	data[0] = 'y'
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	os.Chtimes(path, info.ModTime(), info.ModTime())
	f.last.took = 1 << 50
	if digest(false) != first {
		t.Error("it was read again at once")
	}
	f.last.took = 0
	second := digest(false)
	if second == first {
		t.Error("the change was not seen")
	}
	f.last.took = 1 << 50
	os.WriteFile(path, data[1:], 0o644)
	if digest(false) == second {
		t.Error("another size was not seen")
	}
}
