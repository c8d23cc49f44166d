package serve

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

	"github.com/plrank/plrank/internal/testkit"
)

func TestInvalidOptionsAreErrors(t *testing.T) {
	dir := t.TempDir()
	path, empty := filepath.Join(dir, "m.npz"), filepath.Join(dir, "token")
	testkit.LinearModel(t, path, 1, 2, 3)
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
		`is named "\xff": want a name, in UTF-8`:   {Models: map[string]string{"\xff": path}},
		`is named "": want a name`:                 {Models: map[string]string{"": path}},
		`service: origin "shop.example"`:           {Models: only(path), Origins: []string{"shop.example"}},
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
	testkit.LinearModel(t, path, 1, 2, 3)
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

// A second Close leaves what another service has by then: the lock of the log, and the metrics.
func TestSecondCloseDoesNothing(t *testing.T) {
	dir := t.TempDir()
	path, folder := filepath.Join(dir, "m.npz"), filepath.Join(dir, "clicks")
	testkit.LinearModel(t, path, 1, 2, 3)
	registry := prometheus.NewRegistry()
	o := Options{Models: only(path), Metrics: registry, Clicks: folder}
	first, _ := tested(t, o)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	tested(t, o)
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(folder, ".lock")); err != nil {
		t.Errorf("the lock of the next service: %v", err)
	}
	if found, err := registry.Gather(); err != nil || len(found) == 0 {
		t.Errorf("the metrics of the next service: %d, %v", len(found), err)
	}
}

// A page of another website can make a browser send a request, but not one of JSON.
func TestPagesOfOtherWebsitesAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	s, _ := tested(t, Options{Models: only(path), Clicks: filepath.Join(t.TempDir(), "clicks"), Origins: []string{"https://shop.example"}})
	const form, text, own = "application/x-www-form-urlencoded", "text/plain;charset=UTF-8", "http://example.com" // httptest's host
	for _, c := range []struct {
		origin, site, content string
		status                int
	}{
		{"https://evil.example", "", text, 403},
		{"https://evil.example", "cross-site", text, 403},
		{"https://evil.example", "cross-site", form, 403},
		{"https://evil.example", "cross-site", "", 403},
		{"https://evil.example", "cross-site", "text/plain; x=application/json", 403},
		{"https://evil.example", "cross-site", "no type", 403},
		{"null", "cross-site", text, 403},
		{"", "cross-site", text, 403},
		{"https://other.example.com", "same-site", text, 403},
		{"http://shop.example", "cross-site", text, 403},
		{"https://shop.example", "cross-site", text, 200},
		{"https://shop.example", "", text, 200},
		{"https://evil.example", "cross-site", "application/json; charset=utf-8", 200},
		{"https://evil.example", "", "application/vnd.events+json", 200},
		{own, "same-origin", text, 200},
		{own, "", text, 200},
		{"", "none", text, 200},
		{"", "", form, 200}, // curl -d
		{"", "", "", 200},
	} {
		for path, body := range map[string]string{"/v1/events": `[]`, "/v1/rank": `{"documents": []}`} {
			w, r := httptest.NewRecorder(), httptest.NewRequest("POST", path, strings.NewReader(body))
			for name, value := range map[string]string{"Origin": c.origin, "Sec-Fetch-Site": c.site, "Content-Type": c.content} {
				if value != "" {
					r.Header.Set(name, value)
				}
			}
			s.ServeHTTP(w, r)
			if w.Code != c.status || c.status == 403 && !strings.Contains(w.Body.String(), "want Content-Type: application/json") {
				t.Errorf("%+v, %s: %d, %s", c, path, w.Code, w.Body)
			}
		}
	}
}

func TestPollingFindsNewModels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	s, _ := tested(t, Options{Models: only(path), Poll: time.Millisecond})
	testkit.LinearModel(t, path, 10, 20, 30)
	testkit.Await(t, "the new model", func() bool {
		return strings.Contains(post(s, `{"documents": [[1, 1, 1]]}`).Body.String(), `"scores":[60]`)
	})
}

// Behind a prefix every path is answered, and the description of the service is relative to it.
func TestDrainingServiceStillAnswersBehindAPrefix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
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
