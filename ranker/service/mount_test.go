package service

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/plrank/plrank/internal/servicetest"
)

func TestInvalidOptionsAreErrors(t *testing.T) {
	dir := t.TempDir()
	path, empty := filepath.Join(dir, "m.npz"), filepath.Join(dir, "token")
	servicetest.Linear(t, path, 1, 2, 3)
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	taken := prometheus.NewRegistry()
	tested(t, Options{Models: only(path), Metrics: taken})
	for want, o := range map[string]Options{
		"service: no models":                       {},
		"service: negative limit":                  {Models: only(path), Limits: Limits{Work: -1}},
		"service: negative Poll -1s":               {Models: only(path), Poll: -time.Second},
		"service: model default: open none":        {Models: only("none")},
		"no token in the file":                     {Models: only(path), TokenFile: empty},
		"service: duplicate metrics collector reg": {Models: only(path), Metrics: taken},
	} {
		o.Log = slog.New(slog.DiscardHandler)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestRegistryIsFreeAfterClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	servicetest.Linear(t, path, 1, 2, 3)
	registry := prometheus.NewRegistry()
	for range 2 {
		s, _ := tested(t, Options{Models: only(path), Metrics: registry})
		post(s, `{"documents": []}`)
		if found, err := registry.Gather(); err != nil || len(found) != 9 {
			t.Errorf("%d metrics, %v", len(found), err)
		}
		s.Close()
	}
}

func TestPollingFindsNewModels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	servicetest.Linear(t, path, 1, 2, 3)
	s, _ := tested(t, Options{Models: only(path), Poll: time.Millisecond})
	servicetest.Linear(t, path, 10, 20, 30)
	servicetest.Await(t, "the new model", func() bool {
		return strings.Contains(post(s, `{"documents": [[1, 1, 1]]}`).Body.String(), `"scores":[60]`)
	})
}

// Behind a prefix every path is answered, and the description of the service is relative to it.
func TestDrainingServiceStillAnswersBehindAPrefix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	servicetest.Linear(t, path, 1, 2, 3)
	s, _ := tested(t, Options{Models: only(path)})
	mux := http.NewServeMux()
	mux.Handle("/ranking/", http.StripPrefix("/ranking", s))
	h := httptest.NewServer(mux)
	defer h.Close()
	get := func(path string) (int, bool, string) {
		resp, err := http.Get(h.URL + "/ranking" + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, resp.Close, string(text)
	}
	if code, closing, _ := get("/readyz"); code != 200 || closing {
		t.Errorf("%d, closing %v", code, closing)
	}
	if _, _, text := get("/openapi.json"); !strings.Contains(text, `"servers": [{"url": "."}]`) {
		t.Error("the description names another place")
	}
	s.Drain()
	for path, want := range map[string]int{"/readyz": 503, "/healthz": 503, "/livez": 200, "/v1/models": 200} {
		if code, closing, _ := get(path); code != want || !closing {
			t.Errorf("draining: %s: %d, closing %v, want %d", path, code, closing, want)
		}
	}
}
