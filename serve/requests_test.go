package serve

import (
	"errors"
	"fmt"
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

// Documents that come before the name of their model, or that are many, are read when the model is known. Answers and errors are
// the same: those of the request before those of its documents.
func TestDocumentsMayComeBeforeTheirModel(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.npz"), filepath.Join(dir, "two.npz")
	testkit.LinearModel(t, one, 1, 10, 100)
	testkit.LinearModel(t, two, 1, 0, 0)
	wide := filepath.Join(dir, "wide.npz")
	if err := network(t, "none", 700, 1, 0).Save(wide); err != nil {
		t.Fatal(err)
	}
	s, _ := tested(t, Options{Models: map[string]string{"default": one, "two": two, "wide": wide}})
	many := strings.Repeat("{},", earlyValues/700) + "{}"
	for members, want := range map[string]string{
		`"model": "default", "documents": [[1, 2, 3], {"9": 4}, {"5": 1, "9": 1}]`: `"scores":[321,400,110]`,
		`"documents": [[1, 2, 3], {"9": 4}, {"9": 1, "5": 1}], "model": "default"`: `"scores":[321,400,110]`,
		`"documents": [[1, 2, 3], {"9": 4}]`:                                       `"scores":[321,400]`,
		`"documents": [[1, 2, 3], [4, 5, 6]], "model": "two"`:                      `"scores":[1,4]`,
		`"model": "wide", "documents": [` + many + `]`:                             fmt.Sprintf(",%d]}", earlyValues/700),
		`"model": "wide", "documents": [` + many + `, {"x": 1}]`:                   fmt.Sprintf(`document %d: unknown feature \"x\"`, earlyValues/700+1),
		`"model": "default", "documents": [[1, "x"]], "draw": {}`:                  "draw: no cutoff",
		`"model": "default", "documents": [[1, "x"]], "no": {}`:                    `unknown field \"no\"`,
		`"model": "default", "documents": [[1, "x"]`:                               "after offset",
		`"model": 7, "documents": [[1, "x"]]`:                                      "model: want a string",
		`"documents": [[1, "x"]], "model": "three"`:                                `unknown model \"three\"`,
		`"model": "two", "documents": [[1, 2, 3]], "documents": [[1]]`:             `\"documents\" occurs twice`,
	} {
		if w := post(s, "{"+members+"}"); !strings.Contains(w.Body.String(), want) {
			t.Errorf("%.100s: %d, %.100s, want %s", members, w.Code, w.Body, want)
		}
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
