package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/transforms"
)

// custom writes a model of two features of a kind of its own.
func custom(t *testing.T, path, kind string, forward ranker.Forward) {
	t.Helper()
	ranker.Register(kind, func(*ranker.File) (ranker.Forward, error) { return forward, nil })
	f := &ranker.File{
		Kind: kind, Settings: json.RawMessage("{}"), Dtype: "float32", Transform: transforms.Raw(2), FeatureIDs: []int{1, 2}, Gain: "exp2",
		Arrays: []ranker.Array{{Name: "w", Shape: []int{1}, Values: []float64{1}}},
	}
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
}

// first scores documents by their first feature.
func first(scores []float64, x []float32) error {
	for d := range scores {
		scores[d] = float64(x[2*d])
	}
	return nil
}

// A new model is tried as requests use it: one that panics, or has no scores, leaves the old one in use, and is logged once.
func TestModelIsTriedBeforeItTakesOver(t *testing.T) {
	for kind, forward := range map[string]ranker.Forward{
		"panics when it scores": func([]float64, []float32) error { panic("here") },
		"panics in explanations": func(scores []float64, x []float32) error {
			if slices.Contains([]string{"[1 0]", "[0 1]"}, fmt.Sprint(x[:2])) { // no document has it, until columns are swapped
				panic("here")
			}
			return first(scores, x)
		},
		"panics in large queries": func(scores []float64, x []float32) error {
			if len(scores) > 100 {
				panic("here")
			}
			return first(scores, x)
		},
		"has scores that are not numbers": func(scores []float64, _ []float32) error { scores[0] = math.NaN(); return nil },
	} {
		path := filepath.Join(t.TempDir(), "m.npz")
		custom(t, path, "good", first)
		s, logged := tested(t, Options{Models: only(path)})
		version := s.models["default"].model.Load().Digest()
		custom(t, path, kind, forward)
		logged.Reset()
		for range 3 {
			s.refresh(false)
		}
		if text := logged.String(); strings.Count(text, "cannot read model") != 1 {
			t.Errorf("%s: logged %q", kind, text)
		}
		if w := post(s, `{"documents": [[1, 1], [2, 0]]}`); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), version) {
			t.Errorf("%s: %d, %s", kind, w.Code, w.Body)
		}
		if err := s.Reload(); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: Reload returns %v, want the file", kind, err)
		}
		if _, err := New(Options{Models: only(path), Log: s.log}); err == nil {
			t.Errorf("%s: a new service takes it", kind)
		}
	}
}

// A model with texts and base scores is tried with both.
func TestModelWithTextsIsTried(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	f := network(t, "none", 2, 1, 0)
	f.FeatureNames, f.Levels = []string{"price", "city"}, [][]string{nil, {"Oslo \"N\"", "Bergen"}}
	f.BaseScores = true
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	s, _ := tested(t, Options{Models: only(path)})
	if w := post(s, `{"documents": [[1, "Bergen"]], "base_scores": [1]}`); w.Code != http.StatusOK {
		t.Errorf("%d, %s", w.Code, w.Body)
	}
}

// Computing ends when the client is gone, whatever the request asks for: after that there is at most one pass for each core.
func TestComputingEndsWhenTheClientIsGone(t *testing.T) {
	var calls, gone, left atomic.Int64 // left: the calls when the client had gone
	var leave atomic.Pointer[context.CancelFunc]
	path := filepath.Join(t.TempDir(), "m.npz")
	custom(t, path, "counting", func(scores []float64, x []float32) error {
		if n := calls.Add(1); leave.Load() != nil && n == gone.Load() {
			(*leave.Load())()
			left.Store(calls.Load())
		}
		return first(scores, x)
	})
	s, _ := tested(t, Options{Models: only(path)})
	for _, at := range []int64{1, 2, 20, 300} { // the first call is for the scores
		ctx, cancel := context.WithCancel(t.Context())
		calls.Store(0)
		gone.Store(at)
		leave.Store(&cancel)
		w, body := httptest.NewRecorder(), strings.NewReader(`{"documents": [[1, 2], [3, 4], [5, 6]], "explain": {"document": 1}}`)
		r := httptest.NewRequest("POST", "/v1/rank", body)
		s.ServeHTTP(w, r.WithContext(ctx))
		if n := calls.Load(); w.Code != statusClientClosed || n > left.Load()+int64(runtime.GOMAXPROCS(0)) {
			t.Errorf("the client is gone at call %d, when %d were made: status %d after %d", at, left.Load(), w.Code, n)
		}
		leave.Store(nil)
		cancel()
	}
}

// A page whose name stands for this machine, as its DNS server tells the browser, sends its own name as the host.
func TestHostsOfOtherWebsitesAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	s, _ := tested(t, Options{
		Models: only(path), Hosts: []string{"Search.shop.example", "10.1.2.3"}, Clicks: filepath.Join(t.TempDir(), "clicks"),
	})
	any, _ := tested(t, Options{Models: only(path)})
	for host, known := range map[string]bool{
		"localhost": true, "localhost:8080": true, "LOCALHOST:1": true, "localhost.:80": true, "127.0.0.1": true, "127.0.0.1:8080": true,
		"127.9.9.9:1": true, "[::1]": true, "[::1]:8080": true, "[::ffff:127.0.0.1]:1": true, "search.shop.example:8080": true,
		"10.1.2.3:8080": true, "10.1.2.3": true, "": true,
		"evil.example": false, "evil.example:8080": false, "localhost.evil.example": false, "127.0.0.1.evil.example": false, "10.1.2.4": false,
		"localhost:8080:80": false, "[::2]:80": false, "0.0.0.0:8080": false, "a:b:c": false, "::1": true, "shop.example": false,
	} {
		for _, request := range []struct{ method, path, body string }{
			{"POST", "/v1/rank", `{"documents": []}`}, {"POST", "/v1/events", "[]"}, {"GET", "/v1/models", ""}, {"GET", "/metrics", ""},
		} {
			w, r := httptest.NewRecorder(), httptest.NewRequest(request.method, request.path, strings.NewReader(request.body))
			r.Host = host
			s.ServeHTTP(w, r)
			refused := w.Code == http.StatusForbidden && strings.Contains(w.Body.String(), "want localhost, an address of this machine, or")
			if known && w.Code != http.StatusOK || !known && !refused {
				t.Errorf("%q, %s: %d, %.200s", host, request.path, w.Code, w.Body)
			}
		}
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/v1/models", nil)
		r.Host = host
		if any.ServeHTTP(w, r); w.Code != http.StatusOK {
			t.Errorf("%q, without a list of hosts: %d", host, w.Code)
		}
	}
}
