package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/ranker"
)

// logging is a service of the model (1, 10, 100) with a click log, and what the log holds.
func logging(t *testing.T) (s *Service, read func() *clicks.Log) {
	t.Helper()
	dir := t.TempDir()
	path, folder := filepath.Join(dir, "m.npz"), filepath.Join(dir, "clicks")
	testkit.LinearModel(t, path, 1, 10, 100)
	s, _ = tested(t, Options{Models: only(path), Clicks: folder, Limits: Limits{Documents: 4}})
	return s, func() *clicks.Log {
		t.Helper()
		paths, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		log, err := clicks.Read(paths...)
		if err != nil {
			t.Fatal(err)
		}
		return log
	}
}

func send(s *Service, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(body)))
	return w
}

// Package clicks reads from the log what the client got, the features as the model had them, and the
// scores, from which the seed draws the same ranking again.
func TestDrawIsLoggedAsTheClientGotIt(t *testing.T) {
	s, read := logging(t)
	documents := "[[0.1, -0,\n1e-3], {\"9\": 0.01, \"5\": null}, [ 0.30000001192092896 ,null,0.007\t] , {}]"
	var want []clicks.Impression
	for i, draw := range []string{`{"cutoff": 2, "seed": 18446744073709551615, "temperature": 0.5}`, `{"cutoff": 9}`, `{"cutoff": 1}`} {
		id := []string{`, "query_id": "mine", "client_id": "c1"`, "", ""}[i]
		w := send(s, "/v1/rank", `{"query": "Schuhe \"rot\" <b>\n", "document_ids": ["a", "b ", "ü\u0022", "7"]`+id+`, "documents": `+documents+`, "draw": `+draw+`}`)
		var out response
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != 200 || out.QueryID == "" {
			t.Fatalf("%d, %s, %v", w.Code, w.Body, err)
		}
		y := out.Drawn.Ranking
		again, _, err := (ranker.Policy{Temperature: out.Drawn.Temperature}).Draw(nil, out.Scores, len(y), out.Drawn.Seed)
		if err != nil || !slices.Equal(again, y) {
			t.Errorf("%s: the seed %d draws %v, and not %v, %v", draw, out.Drawn.Seed, again, y, err)
		}
		want = append(want, clicks.Impression{
			ID: out.QueryID, Query: "Schuhe \"rot\" <b>\n", Model: "default", Version: out.Version, Documents: []string{"a", "b ", "ü\"", "7"},
			Scores: out.Scores, Temperature: out.Drawn.Temperature, Seed: out.Drawn.Seed, Cutoff: len(y), Shown: y, Clicks: make([]float64, len(y)),
		})
	}
	want[0].Client = "c1"
	if want[0].ID != "mine" || want[1].ID == want[2].ID || want[1].Seed == want[2].Seed || want[0].Seed != math.MaxUint64 || len(want[1].Shown) != 4 {
		t.Errorf("ids and seeds are not those given, or not new: %+v", want)
	}
	if w := send(s, "/v1/events", fmt.Sprintf(`{"action_name": "click", "query_id": "mine", "event_attributes": {"object": {"object_id": %q}}}`, want[0].Documents[want[0].Shown[1]])); w.Code != 200 {
		t.Error(w.Body)
	}
	want[0].Clicks[1] = 1
	log := read()
	if len(log.Warnings) > 0 || !slices.Equal(log.FeatureIDs, []int{1, 5, 9}) || len(log.Impressions) != 3 {
		t.Fatalf("warnings %q, features %v, %d impressions", log.Warnings, log.FeatureIDs, len(log.Impressions))
	}
	nan := float32(math.NaN())
	features := []float32{.1, 0, 1e-3, 0, nan, .01, .3, nan, .007, 0, 0, 0}
	for i, im := range log.Impressions {
		for j, x := range im.Features {
			if x != features[j] && (x == x || features[j] == features[j]) {
				t.Errorf("features %v, want %v", im.Features, features)
				break
			}
		}
		if age := time.Since(im.Time); age < 0 || age > time.Minute {
			t.Errorf("time %v", im.Time)
		}
		im.Features, im.Time = nil, time.Time{}
		if !reflect.DeepEqual(im, want[i]) {
			t.Errorf("%+v, want %+v", im, want[i])
		}
	}
	if text := metricsOf(s); !strings.Contains(text, "\nplrank_impressions_total 3\n") || !strings.Contains(text, "\nplrank_events_total 1\n") || !strings.Contains(text, "\nplrank_log_sync_seconds_count 4\n") {
		t.Error(text)
	}
}

// Booleans are logged as numbers.
func TestBooleansAreLoggedAsNumbers(t *testing.T) {
	s, read := logging(t)
	if w := send(s, "/v1/rank", `{"query": "q", "document_ids": ["a", "b"], "documents": [[true, 0.5, 2], [1, 0, false]], "draw": {"cutoff": 1}}`); w.Code != 200 {
		t.Fatal(w.Body)
	}
	if got := read().Impressions[0].Features; !slices.Equal(got, []float32{1, .5, 2, 1, 0, 0}) {
		t.Errorf("%v", got)
	}
}

// Texts are logged as what they are, those that the model does not know, too: another model may number them otherwise.
func TestTextsAreLogged(t *testing.T) {
	s, read := logging(t)
	f := *s.models["default"].model.Load().File()
	f.Levels, f.FeatureNames = [][]string{nil, {"7", "red"}, nil}, []string{"x", "colour", "y"}
	if err := f.Save(s.models["default"].path); err != nil {
		t.Fatal(err)
	}
	s.models["default"].logged = nil // as if the process began with this model
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	if w := send(s, "/v1/rank", `{"query": "q", "document_ids": ["a", "b", "c", "d"], "documents": [[1, "red", 2], [1, 7.0, 2], [1, null, 2], {"5": "bl\"ue"}], "draw": {"cutoff": 1}}`); w.Code != 200 {
		t.Fatal(w.Body)
	}
	log := read()
	if want := []string{"red", "7", "bl\"ue"}; !slices.Equal(log.Levels[1], want) || log.Levels[0] != nil || !slices.Equal(log.FeatureNames, f.FeatureNames) {
		t.Errorf("texts %q, want %q; names %q", log.Levels, want, log.FeatureNames)
	}
	nan := float32(math.NaN())
	want := []float32{1, 1, 2, 1, 2, 2, 1, nan, 2, 0, 3, 0}
	if got := log.Impressions[0].Features; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Without a draw nothing is logged: it is not known what the client shows. Nothing is shown of no
// documents.
func TestOnlyShownDrawsAreLogged(t *testing.T) {
	s, read := logging(t)
	for _, body := range []string{
		`{"documents": [[1, 2, 3]]}`,
		`{"documents": [[1, 2, 3]], "query": "q", "query_id": "i", "client_id": "c", "document_ids": ["a"]}`,
		`{"documents": [], "draw": {"cutoff": 1}}`,
	} {
		if w := send(s, "/v1/rank", body); w.Code != 200 || strings.Contains(w.Body.String(), "query_id") {
			t.Errorf("%s: %d, %s", body, w.Code, w.Body)
		}
	}
	if log := read(); len(log.Impressions) != 0 {
		t.Errorf("%d impressions", len(log.Impressions))
	}
}

func TestIncompleteImpressionsAndEventsAreRefused(t *testing.T) {
	s, read := logging(t)
	rank := func(rest string) string {
		return `{"documents": [{}, {}], "draw": {"cutoff": 1, "seed": 1}` + rest + `}`
	}
	event := func(name, value string) string {
		fields := map[string]any{"action_name": "click", "query_id": "q", "timestamp": "2026-11-23T16:00:00Z", "event_attributes": json.RawMessage(`{"object": {"object_id": "a"}}`)}
		if fields[name] = json.RawMessage(value); value == "" {
			delete(fields, name)
		}
		text, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	long := strings.Repeat("ü", 101)
	for _, c := range []struct{ path, body, want string }{
		{"rank", rank(``), "400 no query: this service logs drawn rankings"},
		{"rank", rank(`, "query": ""`), "400 no query"},
		{"rank", rank(`, "query": "q"`), "400 no document_ids: this service logs drawn rankings"},
		{"rank", rank(`, "query": 7`), "400 invalid request body: query: want a string"},
		{"rank", rank(`, "document_ids": "a"`), "400 document_ids: want an array of strings"},
		{"rank", rank(`, "document_ids": ["a", 7]`), "400 document_ids: entry 1: want a string"},
		{"rank", rank(`, "document_ids": ["a"]`), "400 document_ids: 1 ids for 2 documents"},
		{"rank", rank(`, "document_ids": ["a", "b", "c"]`), "400 document_ids: more ids than the 2 documents"},
		{"rank", rank(`, "document_ids": ["a", "\u0061"]`), `400 document_ids: "a" occurs twice`},
		{"rank", rank(`, "document_ids": ["a", ""]`), "400 document_ids: entry 1: 0 characters, want 1 to 256"},
		{"rank", rank(`, "document_ids": ["` + strings.Repeat("x", 257) + `", ""]`), "400 document_ids: entry 0: 257 characters"},
		{"rank", rank(`, "query": "q", "document_ids": ["a", "b"], "query_id": "` + long + `"`), "400 query_id and client_id: want at most 100"},
		{"events", ``, "400 invalid request body: byte 0"},
		{"events", `7`, "400 invalid request body: want an event of UBI, or an array of events"},
		{"events", `[[]]`, "400 event 0: clicks: not an event of UBI"},
		{"events", `[` + event("x", "1") + `, null]`, "400 event 1: clicks: not an event of UBI: want an object"},
		{"events", event("action_name", ""), "400 clicks: no action_name"},
		{"events", event("query_id", ""), "400 clicks: no query_id"},
		{"events", event("event_attributes", ""), "400 clicks: no event_attributes.object.object_id"},
		{"events", event("query_id", `"`+long+`"`), "400 clicks: query_id has 101 characters, want at most 100"},
		{"events", event("client_id", `[]`), "400 clicks: not an event of UBI"},
		{"events", event("timestamp", `"yesterday"`), `400 clicks: invalid timestamp "yesterday"`},
		{"events", `[` + strings.Repeat(event("x", "1")+",", 4) + `{}]`, "413 more than 4 events"},
		{"events", `[]`, "200 "},
	} {
		w := send(s, "/v1/"+c.path, c.body)
		var out struct{ Error string }
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(w.Code, " ", out.Error); !strings.HasPrefix(got, c.want) {
			t.Errorf("%.200s: %s, want %s", c.body, got, c.want)
		}
	}
	if log := read(); len(log.Impressions) != 0 || len(log.Warnings) != 0 {
		t.Errorf("%d impressions, %q", len(log.Impressions), log.Warnings)
	}
}

// Events stay as the client sent them, on a line each, and get a time where they have none.
func TestEventsAreKeptWhole(t *testing.T) {
	s, _ := logging(t)
	const other = `{"action_name":"purchase","timestamp":"2026-11-23T16:00:00.5+01:00","event_attributes":{"price":[12.50,"€"]}}`
	w := send(s, "/v1/events", "[\n"+strings.ReplaceAll(other, ",", "\n,\t")+`, {"action_name": "view"}]`)
	if w.Code != 200 || w.Body.String() != `{"logged":2}` {
		t.Errorf("%d, %s", w.Code, w.Body)
	}
	paths, _ := filepath.Glob(filepath.Join(filepath.Dir(s.models["default"].path), "clicks", "*.jsonl"))
	if len(paths) != 1 {
		t.Fatal(paths)
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	if len(lines) != 3 || lines[0] != other+"\n" || !strings.HasPrefix(lines[1], `{"action_name":"view","timestamp":"20`) || !strings.HasSuffix(lines[1], "Z\"}\n") {
		t.Errorf("%q", lines)
	}
}

func TestServiceWithoutLogIgnoresIDsAndRefusesEvents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	s, _ := tested(t, Options{Models: only(path)})
	if w := send(s, "/v1/events", `[]`); w.Code != 404 || !strings.Contains(w.Body.String(), "start plrank serve with -log") {
		t.Errorf("%d, %s", w.Code, w.Body)
	}
	if w := send(s, "/v1/rank", `{"documents": [{}], "document_ids": ["a"], "query": "q", "draw": {"cutoff": 1}}`); w.Code != 200 || strings.Contains(w.Body.String(), "query_id") {
		t.Errorf("%d, %s", w.Code, w.Body)
	}
}

// If the log cannot be written, drawn rankings and events get an error, which the log of the
// service says once a minute; other requests are answered.
func TestUnwritableLogIsAnErrorForTheClient(t *testing.T) {
	dir := t.TempDir()
	path, folder := filepath.Join(dir, "m.npz"), filepath.Join(dir, "clicks")
	testkit.LinearModel(t, path, 1, 2, 3)
	s, text := tested(t, Options{Models: only(path), Clicks: folder})
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	draw := `{"documents": [{}], "document_ids": ["a"], "query": "q", "draw": {"cutoff": 1}}`
	click := `{"action_name": "click", "query_id": "q", "event_attributes": {"object": {"object_id": "a"}}}`
	for range 2 {
		for path, body := range map[string]string{"/v1/rank": draw, "/v1/events": click} {
			w := send(s, path, body)
			if w.Code != 507 || w.Body.String() != `{"error":"the click log cannot be written: see the log of the service"}`+"\n" {
				t.Errorf("%s: %d, %s", path, w.Code, w.Body)
			}
			if strings.Contains(w.Body.String(), dir) { // which is nobody else's business
				t.Errorf("the answer has a path of this machine: %s", w.Body)
			}
		}
	}
	if n := strings.Count(text.String(), "status=507"); n != 4 || !strings.Contains(text.String(), `error="click log: open `+folder) {
		t.Errorf("logged %d times: %s", n, text)
	}
	for _, body := range []string{`{"documents": [{}]}`, `{"documents": [], "draw": {"cutoff": 1}}`} {
		if w := send(s, "/v1/rank", body); w.Code != 200 {
			t.Errorf("%d, %s", w.Code, w.Body)
		}
	}
	if text := metricsOf(s); !strings.Contains(text, "\nplrank_log_failures_total 4\n") || !strings.Contains(text, `plrank_requests_total{code="507",model="default"} 2`) || !strings.Contains(text, "\nplrank_impressions_total 0\n") {
		t.Error(text)
	}
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if w := send(s, "/v1/rank", draw); w.Code != 200 {
		t.Errorf("when it can be written again: %d, %s", w.Code, w.Body)
	}
}

// A model with other features is refused under a log, which has one list of them, and the former one stays.
func TestLogKeepsItsFeatures(t *testing.T) {
	s, read := logging(t)
	slot := s.models["default"]
	before := slot.model.Load()
	f := *before.File()
	f.FeatureIDs = []int{1, 5, 10}
	if err := f.Save(slot.path); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(); err == nil || !strings.Contains(err.Error(), "has other features, by id, name or type, than the model it replaces, and a click log has one feature list") {
		t.Errorf("error %v", err)
	}
	names, texts := f, f
	names.FeatureIDs, names.FeatureNames = before.FeatureIDs(), []string{"a", "b", "c"}
	texts.FeatureIDs, texts.Levels = before.FeatureIDs(), [][]string{nil, {"red"}, nil}
	for _, other := range []ranker.File{names, texts} {
		if err := other.Save(slot.path); err != nil {
			t.Fatal(err)
		}
		if err := s.Reload(); err == nil || !strings.Contains(err.Error(), "has other features") {
			t.Errorf("error %v", err)
		}
	}
	if w := send(s, "/v1/rank", `{"query": "q", "document_ids": ["a"], "documents": [[1, 2, 3]], "draw": {"cutoff": 1}}`); w.Code != 200 || slot.model.Load() != before {
		t.Errorf("%d, %s", w.Code, w.Body)
	}
	if log := read(); !slices.Equal(log.FeatureIDs, []int{1, 5, 9}) {
		t.Errorf("features %v", log.FeatureIDs)
	}
}

func TestLogErrorsOfNew(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.npz"), filepath.Join(dir, "two.npz")
	testkit.LinearModel(t, one, 1, 2, 3)
	f := *must(ranker.Open(one)).File()
	f.FeatureIDs = []int{1, 5, 10}
	if err := f.Save(two); err != nil {
		t.Fatal(err)
	}
	used, _ := tested(t, Options{Models: only(one), Clicks: filepath.Join(dir, "used")})
	for want, o := range map[string]Options{
		"models a and b have different features, by id, name or type": {Models: map[string]string{"a": one, "b": two}, Clicks: filepath.Join(dir, "new")},
		"one.npz: not a directory":                                    {Models: only(one), Clicks: one},
		"another process writes there: locked by process":             {Models: only(one), Clicks: filepath.Join(dir, "used")},
	} {
		o.Log = slog.New(slog.DiscardHandler)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := errors.Join(used.Close(), used.Close()); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	tested(t, Options{Models: only(one), Clicks: filepath.Join(dir, "used")})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
