package serve

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/testkit"
)

// metricsOf is what /metrics shows.
func metricsOf(s *Service) string {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

// Metrics are by model, of those that are served and no other name, and one version of each is shown.
func TestMetricsAreByModel(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.npz"), filepath.Join(dir, "two.npz")
	testkit.LinearModel(t, one, 1, 2, 3)
	testkit.LinearModel(t, two, 3, 2, 1)
	s, _ := tested(t, Options{Models: map[string]string{"one": one, "two": two}})
	for _, body := range []string{
		`{"model": "one", "documents": [{}, {}]}`, `{"model": "two", "documents": [{}]}`, `{"model": "two", "documents": [{}]}`,
		`{"model": "two", "documents": [[1]]}`, `{"model": "three", "documents": []}`, `{"model": "four", "documents": []}`, `{`,
	} {
		post(s, body)
	}
	version := s.models["one"].model.Load().Digest()
	text := metricsOf(s)
	for _, want := range []string{
		`plrank_requests_total{code="200",model="one"} 1`,
		`plrank_requests_total{code="200",model="two"} 2`,
		`plrank_requests_total{code="400",model="two"} 1`,
		`plrank_requests_total{code="400",model=""} 1`,
		`plrank_requests_total{code="404",model=""} 2`,
		`plrank_request_documents_sum{model="one"} 2`,
		`plrank_request_seconds_count{model="two"} 2`,
		`plrank_model_info{model="one",version="` + version + `"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "three") || strings.Contains(text, "four") {
		t.Errorf("a name that is not served is in\n%s", text)
	}
	testkit.LinearModel(t, one, 7, 7, 7)
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	if text := metricsOf(s); strings.Contains(text, version) || strings.Count(text, `plrank_model_info{`) != 2 {
		t.Errorf("after a new version of one:\n%s", text)
	}
}

// An answer repeats the request's id, or has a new one, and the log names a failed request by it.
func TestRequestsHaveIDs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	s, log := tested(t, Options{Models: only(path)})
	seen := map[string]bool{}
	for id, kept := range map[string]bool{
		"abc-123_:./+=@": true, strings.Repeat("x", 100): true,
		"": false, strings.Repeat("x", 101): false, "two words": false, "a\nb": false, "a\"b": false, "ä": false,
	} {
		for _, request := range [][2]string{{"POST", "/v1/rank"}, {"GET", "/livez"}, {"GET", "/nowhere"}} {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(request[0], request[1], strings.NewReader("{"))
			if r.Header.Set("X-Request-ID", id); id == "" {
				r.Header.Del("X-Request-ID")
			}
			s.ServeHTTP(w, r)
			got := w.Header().Get("X-Request-ID")
			if kept && got != id || !kept && (got == id || seen[got] || !isID(got)) {
				t.Errorf("%q: the answer of %v has %q", id, request, got)
			}
			seen[got] = true
			if failed := w.Code != http.StatusOK; failed != strings.Contains(log.String(), got) {
				t.Errorf("%q, status %d: the log is\n%s", got, w.Code, log)
			}
			log.Reset()
		}
	}
}

// Errors of the service itself may name files of its machine: its log has them, and no answer.
func TestAnswersHaveNoPathsOfTheMachine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	s, log := tested(t, Options{Models: only(path)})
	for _, err := range []error{errors.New("open /srv/secret: no such file"), statusError{http.StatusInsufficientStorage, errors.New("write /srv/secret: no space left on device")}} {
		log.Reset()
		w := httptest.NewRecorder()
		s.fail(w, httptest.NewRequest("POST", "/v1/rank", nil), err)
		if strings.Contains(w.Body.String(), "secret") || !strings.Contains(w.Body.String(), "log") {
			t.Errorf("%v: the answer is %s", err, w.Body)
		}
		if !strings.Contains(log.String(), err.Error()) {
			t.Errorf("%v: the log is %s", err, log)
		}
	}
}
