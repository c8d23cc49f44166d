package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/ranker"
)

// only is a single model.
func only(path string) map[string]string { return map[string]string{"default": path} }

// tested is a service, and its log without times and levels.
func tested(t testing.TB, o Options) (*Service, *bytes.Buffer) {
	t.Helper()
	var text bytes.Buffer
	o.Log = slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}}))
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, &text
}

func post(s *Service, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("POST", "/v1/rank", strings.NewReader(body)))
	return w
}

func TestRankAnswersScoresAndOrder(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.npz"), filepath.Join(dir, "two.npz")
	testkit.LinearModel(t, one, 1, 10, 100)
	testkit.LinearModel(t, two, -1, 0, 0)
	s, _ := tested(t, Options{Models: map[string]string{"default": one, "other": two}})
	for body, want := range map[string]string{
		`{"documents": [[1, 2, 3], {"9": 4}, [5, null, 0]]}`: `"scores":[321,400,5],"order":[1,0,2]}`,
		`{"model": "other", "documents": [[1, 2, 3], {}]}`:   `"scores":[-1,0],"order":[1,0]}`,
		`{"documents": []}`: `"scores":[],"order":[]}`,
		"\n\t{ \"documents\" : [ [ 1 , 2\r,3 ] , { \"9\"\n: 4 } , { } , { \"\\u0035\" : 2 } ] , \"draw\" : null , \"model\": \"\" } \n": `"scores":[321,400,0,20],"order":[1,0,3,2]}`,
	} {
		w := post(s, body)
		if w.Code != 200 || !strings.HasSuffix(w.Body.String(), want) {
			t.Errorf("%s: %d, %s, want %s", body, w.Code, w.Body, want)
		}
	}
}

// A model on top of base scores adds to the scores of the request, which must fit the model.
func TestRankAddsToBaseScores(t *testing.T) {
	dir := t.TempDir()
	plain, path := filepath.Join(dir, "plain.npz"), filepath.Join(dir, "on.npz")
	testkit.LinearModel(t, plain, 1, 10, 100)
	m, err := ranker.Open(plain)
	if err != nil {
		t.Fatal(err)
	}
	f := *m.File()
	f.BaseScores = true
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	s, _ := tested(t, Options{Models: map[string]string{"default": path, "plain": plain}})
	for _, test := range []struct {
		body string
		code int
		want string
	}{
		{`{"documents": [[1, 2, 3], {}], "base_scores": [0.5, 1e3]}`, 200, `"scores":[321.5,1000],"order":[1,0]}`},
		{`{"documents": [], "base_scores": []}`, 200, `"scores":[],"order":[]}`},
		{`{"model": "plain", "documents": [{}], "base_scores": null}`, 200, `"scores":[0],"order":[0]}`},
		{`{"documents": [{}]}`, 400, "no base_scores: the model adds to the scores of another ranker"},
		{`{"documents": [{}, {}], "base_scores": [1]}`, 400, "1 base_scores for 2 documents"},
		{`{"documents": [{}], "base_scores": [1, 2, 3]}`, 400, "3 base_scores for 1 documents"},
		{`{"documents": [{}], "base_scores": [null]}`, 400, `base_scores, value 0: want a number"}`},
		{`{"documents": [{}], "base_scores": ["1"]}`, 400, `base_scores, value 0: want a number"}`},
		{`{"documents": [{}], "base_scores": [1e39]}`, 400, "1e39 is beyond the range of float32"},
		{`{"documents": [{}], "base_scores": 1}`, 400, "base_scores: want an array"},
		{`{"model": "plain", "documents": [{}], "base_scores": [1]}`, 400, "base_scores: the model was trained without base scores, and takes none"},
	} {
		if w := post(s, test.body); w.Code != test.code || !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%s: %d, %s, want %s", test.body, w.Code, w.Body, test.want)
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/v1/models", nil))
	if strings.Count(w.Body.String(), `"base_scores":true`) != 1 {
		t.Errorf("%s", w.Body)
	}
}

// The drawn ranking, its probability and the propensities come from the policy at the request's
// temperature, which the answer repeats.
func TestDrawMatchesThePolicyAtItsTemperature(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 10, 100)
	s, _ := tested(t, Options{Models: only(path)})
	for text, temperature := range map[string]float64{"": 1, `, "temperature": null`: 1, `, "temperature": 1`: 1, `, "temperature": 0.25`: 0.25, `, "temperature": 2e1`: 20} {
		for seed := range 10 {
			w := post(s, fmt.Sprintf(`{"documents": [[0, 0, 0], [1, 0, 0], [0, 0.1, 0]], "draw": {"cutoff": 2, "seed": %d%s}}`, seed, text))
			var out response
			if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || out.Drawn == nil {
				t.Fatal(w.Body, err)
			}
			policy := ranker.Policy{Temperature: temperature}
			y, log, err := policy.Draw(nil, out.Scores, 2, uint64(seed))
			if err != nil || !slices.Equal(out.Drawn.Ranking, y) || out.Drawn.LogProbability != log || out.Drawn.Temperature != temperature {
				t.Errorf("%s: %+v, want %v, %v", text, out.Drawn, y, log)
			}
			shown, err := policy.Exposure(t.Context(), nil, out.Scores, []float64{1, 1})
			if err != nil || !slices.Equal(out.Drawn.Propensities, shown) {
				t.Errorf("%s: propensities %v, want %v, %v", text, out.Drawn.Propensities, shown, err)
			}
		}
	}
}

// All ranks are drawn whatever the limit of ranks, which is for those that cost sweeps.
func TestAllRanksAreDrawn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	s, _ := tested(t, Options{Models: only(path), Limits: Limits{Cutoff: 1}})
	for _, cutoff := range []string{"40", "9223372036854775807"} {
		w := post(s, `{"documents":[`+strings.Repeat("{},", 39)+`{}],"draw":{"cutoff":`+cutoff+`,"seed":1}}`)
		var out response
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != 200 || len(out.Drawn.Ranking) != 40 || len(out.Drawn.Propensities) != 40 {
			t.Fatalf("cutoff %s: %d, %s, %v", cutoff, w.Code, w.Body, err)
		}
		for d, p := range out.Drawn.Propensities {
			if math.Abs(p-1) > 1e-7 {
				t.Errorf("cutoff %s: document %d is drawn with probability %v", cutoff, d, p)
			}
		}
	}
}

func TestBadRequestsAreExplainedAndLogged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 1, 3e38)
	s, text := tested(t, Options{Models: only(path), Limits: Limits{Body: 300, Documents: 3, Cutoff: 1}})
	for body, want := range map[string]string{
		``:                                                                          "400 invalid request body: byte 0: want one value of JSON",
		`{"documents": [[1, 2`:                                                      `400 invalid request body: unexpected EOF within "/documents/0" after offset 20`,
		`{"documents": [[1, 2, 3]]} x`:                                              "400 invalid request body: invalid character 'x' at start of value after offset 27",
		`{"documents": []}{"documents": []}`:                                        "400 invalid request body: byte 18: want one value of JSON",
		`[{"documents": []}]`:                                                       "400 invalid request body: want an object",
		`"documents"`:                                                               "400 invalid request body: want an object",
		`{"documents": [[1, 2]]}`:                                                   "400 document 0 has 2 features, want 3",
		`{"documents": [[1, 2, 3], {"2": 1}]}`:                                      `400 document 1: unknown feature "2": want one of feature_ids or feature_names`,
		`{"documents": [{"05": 1}]}`:                                                `400 document 0: unknown feature "05"`,
		`{"documents": [[1, 2, 1e39]]}`:                                             "400 document 0, value 2: 1e39 is beyond the range of float32",
		`{"documents": [{"5": -1e39}]}`:                                             "400 document 0, feature 5: -1e39 is beyond",
		`{"documents": [[1, 2, NaN]]}`:                                              `400 invalid request body: invalid character 'N' at start of value within "/documents/0/2" after offset 22`,
		`{"documents": [[0, 0, 10]]}`:                                               "400 ranker: the score of document 0 is +Inf",
		`{"documents": [null]}`:                                                     "400 document 0: want an array of values, or an object",
		`{"documents": [[1, "2,3"]]}`:                                               "400 document 0, value 1: want a number, or null",
		`{"documents": [[1, {}, [3]]]}`:                                             "400 document 0, value 1: want a number, or null",
		`{"documents": [{"5": "x"}]}`:                                               "400 document 0, feature 5: want a number, or null",
		`{"documents": ["x"]}`:                                                      "400 document 0: want an array of values, or an object",
		`{"documents": [], "shape": "x"}`:                                           `400 invalid request body: unknown field "shape": want base_scores, documents, draw, explain, model`,
		`{"Documents": []}`:                                                         `400 invalid request body: unknown field "Documents"`,
		`{"model": 5, "documents": []}`:                                             `400 invalid request body: model: want a string`,
		`{"documents": {}}`:                                                         "400 documents: want an array",
		`{"documents": null}`:                                                       "400 no documents: want an array",
		`{"documents": [], "documents": []}`:                                        `400 invalid request body: "documents" occurs twice`,
		`{"documents": [], "d\u006fcuments": []}`:                                   `400 invalid request body: "documents" occurs twice`,
		`{"model": null, "model": "x", "documents": []}`:                            `400 invalid request body: "model" occurs twice`,
		`{"documents": [{"5": 1, "9": 2, "5": 1}]}`:                                 "400 document 0: feature 5 is given twice",
		`{"documents": [{}, {"5": 1, "\u0035": 1}]}`:                                "400 document 1: feature 5 is given twice",
		`{"model": "x", "documents": []}`:                                           `404 unknown model "x": want one of default`,
		`{"documents": [{}, {}, {}, {}]}`:                                           "413 4 documents, want at most 3",
		strings.Repeat(" ", 301):                                                    "413 the body has more than 300 bytes",
		`{"draw": {"cutoff": 1, "seed": 1}}`:                                        "400 no documents: want an array",
		`{"documents": [], "draw": []}`:                                             "400 invalid request body: draw: want an object",
		`{"documents": [], "draw": {}}`:                                             "400 invalid request body: draw: no cutoff: want a whole number of 1 or more",
		`{"documents":[],"draw":{"seed":7}}`:                                        "400 invalid request body: draw: no cutoff: want a whole number of 1 or more",
		`{"documents":[],"draw":{"seed":7,"cutoff":null}}`:                          "400 invalid request body: draw: no cutoff",
		`{"documents":[],"draw":{"cutoff":0,"seed":7}}`:                             "400 invalid request body: draw: cutoff 0, want a whole number of 1 or more",
		`{"documents":[],"draw":{"cutoff":1.5,"seed":7}}`:                           "400 invalid request body: draw: cutoff 1.5, want a whole number",
		`{"documents":[],"draw":{"cutoff":"1","seed":7}}`:                           `400 invalid request body: draw: cutoff "1", want a whole number`,
		`{"documents":[],"draw":{"cutoff":1,"seed":-1}}`:                            "400 invalid request body: draw: seed -1, want a whole number from 0 to 18446744073709551615",
		`{"documents":[],"draw":{"cutoff":1,"seed":1,"seed":2}}`:                    `400 invalid request body: draw: "seed" occurs twice`,
		`{"documents":[],"draw":{"cutoff":1,"seed":1,"k":2}}`:                       `400 invalid request body: draw: unknown field "k": want cutoff, seed, temperature`,
		`{"documents":[{},{},{}],"draw":{"cutoff":2,"seed":1}}`:                     "400 draw: cutoff 2, want at most 1, or all 3",
		`{"documents":[],"draw":{"cutoff":1,"seed":1,"temperature":0}}`:             "400 invalid request body: draw: temperature 0, want a positive, finite number",
		`{"documents":[],"draw":{"cutoff":1,"seed":1,"temperature":-2}}`:            "400 invalid request body: draw: temperature -2, want",
		`{"documents":[],"draw":{"cutoff":1,"seed":1,"temperature":1e999}}`:         "400 invalid request body: draw: temperature 1e999, want",
		`{"documents":[],"draw":{"cutoff":1,"seed":1,"temperature":1e-999}}`:        "400 invalid request body: draw: temperature 1e-999, want",
		`{"documents":[],"draw":{"cutoff":1,"seed":1,"temperature":"2"}}`:           `400 invalid request body: draw: temperature "2", want`,
		`{"documents":[[9,0,0]],"draw":{"cutoff":1,"seed":1,"temperature":1e-310}}`: "400 ranker: the score 9 of document 0, divided by the temperature 1e-310, is beyond",
		`{"documents":[[1, 2, ` + strings.Repeat("9", 200) + `]]}`:                  "400 document 0, value 2: " + strings.Repeat("9", 100) + "… is beyond the range",
	} {
		s.failures.flush(s.log)
		text.Reset()
		w := post(s, body)
		var out struct{ Error string }
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(w.Code, " ", out.Error); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
		if strings.Count(text.String(), "\n") != 1 || !strings.Contains(text.String(), strconv.Quote(out.Error)) {
			t.Errorf("%s: logged %q", body, text)
		}
	}
}

// Where there are several models and none is called default, a request must name one.
func TestRequestNamesOneOfSeveralModels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	s, _ := tested(t, Options{Models: map[string]string{"a": path, "b": path}})
	for _, body := range []string{`{"documents": []}`, `{"documents": [], "model": ""}`, `{"documents": [], "model": null}`} {
		if w := post(s, body); w.Code != 404 || !strings.Contains(w.Body.String(), "the request names no model, and none is called default: want one of a, b") {
			t.Errorf("%s: %d, %s", body, w.Code, w.Body)
		}
	}
	if w := post(s, `{"documents": [], "model": "default"}`); w.Code != 404 || !strings.Contains(w.Body.String(), `unknown model \"default\": want one of a, b`) {
		t.Errorf("%d, %s", w.Code, w.Body)
	}
}

func TestCompressedBodyIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	s, _ := tested(t, Options{Models: only(path)})
	for encoding, status := range map[string]int{"gzip": 415, "br": 415, "identity": 200, "": 200} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/rank", strings.NewReader(`{"documents": []}`))
		r.Header.Set("Content-Encoding", encoding)
		if s.ServeHTTP(w, r); w.Code != status {
			t.Errorf("%q: %d, %s", encoding, w.Code, w.Body)
		}
	}
}

func TestPathsAndTheirToken(t *testing.T) {
	dir := t.TempDir()
	path, token := filepath.Join(dir, "m.npz"), filepath.Join(dir, "token")
	testkit.LinearModel(t, path, 1, 2, 3)
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, _ := tested(t, Options{Models: only(path), TokenFile: token})
	get := func(path, token string) (int, string) {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", path, nil)
		if path == "/v1/rank" {
			r = httptest.NewRequest("POST", path, strings.NewReader(`{"documents": [[1, 2, 3]]}`))
		}
		if token != "" {
			r.Header.Set("Authorization", token)
		}
		s.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	for _, c := range []struct {
		path, token string
		status      int
		want        string
	}{
		{"/v1/rank", "", 401, "want a header"},
		{"/v1/rank", "Bearer wrong", 401, "want a header"},
		{"/v1/rank", "secret", 401, "want a header"},
		{"/v1/rank", "Basic secret", 401, "want a header"},
		{"/v1/rank", "Bearer secret", 200, `"scores":[14]`},
		{"/v1/rank", "bearer  secret", 200, `"scores":[14]`},
		{"/v1/models", "Bearer secret", 200, `"feature_ids":[1,5,9]`},
		{"/v1/models", "", 401, ""},
		{"/metrics", "", 401, ""},
		{"/metrics", "Bearer secret", 200, `plrank_requests_total{code="401",model=""} 6`},
		{"/metrics", "Bearer secret", 200, `plrank_model_loads_total{model="default",result="ok"} 1`},
		{"/healthz", "", 200, "ok"},
		{"/readyz", "", 200, "ok"},
		{"/livez", "", 200, "ok"},
		{"/openapi.json", "", 200, "/v1/rank"},
		{"/nothing", "", 404, `{"error":"no GET /nothing: see /openapi.json"}`},
	} {
		if status, body := get(c.path, c.token); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %d, %s", c.path, c.token, status, body)
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/v1/rank", nil))
	if w.Code != 405 || w.Header().Get("Allow") != "POST" || !strings.Contains(w.Body.String(), `{"error":"no GET /v1/rank`) {
		t.Errorf("another method: %d, %v, %s", w.Code, w.Header(), w.Body)
	}
	var document struct{ Paths map[string]any }
	if err := json.Unmarshal(openAPI, &document); err != nil || len(document.Paths) != 8 {
		t.Errorf("%v, %v", document.Paths, err)
	}
}

// Requests need the new token once its file changes. A file without a token changes nothing,
// and is logged once.
func TestTokenFileIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	path, token := filepath.Join(dir, "m.npz"), filepath.Join(dir, "token")
	testkit.LinearModel(t, path, 1, 2, 3)
	write := func(text string) {
		if err := os.WriteFile(token, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	s, logged := tested(t, Options{Models: only(path), TokenFile: token})
	admitted := func(word string) bool {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/v1/models", nil)
		r.Header.Set("Authorization", "Bearer "+word)
		s.ServeHTTP(w, r)
		return w.Code == 200
	}
	for _, c := range []struct{ text, now, not, logged string }{
		{"first", "first", "second", ""},
		{"second\n", "second", "first", `msg="the token has changed"`},
		{" \n", "second", "", `msg="cannot read token: it stays the same" error=` + strconv.Quote(token+": no token in the file")},
		{"third", "third", "second", `msg="the token has changed"`},
	} {
		write(c.text)
		logged.Reset()
		s.refresh(false)
		s.refresh(false)
		if got := strings.TrimSpace(logged.String()); got != c.logged {
			t.Errorf("%q: logged %q, want %q", c.text, got, c.logged)
		}
		if !admitted(c.now) || admitted(c.not) {
			t.Errorf("%q: %v and %v, want %q alone", c.text, admitted(c.now), admitted(c.not), c.now)
		}
	}
	if err := os.Remove(token); err != nil {
		t.Fatal(err)
	}
	if s.refresh(false); !admitted("third") {
		t.Error("a file that went away took the token with it")
	}
}

// Too many documents or values are refused before they are decoded, which would take too much
// memory and time.
func TestHugeRequestsAreRefusedBeforeTheyAreDecoded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	s, _ := tested(t, Options{Models: only(path), Limits: Limits{Documents: 300000}})
	many := func(part string, n int) string { return strings.Repeat(part+",", n-1) + part }
	for _, c := range []struct{ body, want string }{
		{`{"documents": [` + many("[]", 400000) + `]}`, "413 400000 documents, want at most 300000"},
		{`{"model": "a\"[{", "documents": [` + many("{}", 400000) + `]}`, "413 400000 documents, want at most 300000"},
		{`{"documents": [{}, [` + many("1", 600000) + `]]}`, "400 document 1 has 600000 features, want 3"},
		{`{"documents": [{` + many(`"1":0`, 200000) + `}]}`, "400 document 0: feature 1 is given twice"},
		{`{"documents": [` + many("[1,1,1]", 200000) + `]}`, "200 "},
		{`{"documents": [` + many("[1,1,1]", 200000), `400 invalid request body: unexpected EOF within "/documents" after offset 1600014`},
		{strings.Repeat("[", 2e6), "400 invalid request body: want an object"},
		{`{"documents": ` + strings.Repeat("[", 2e6), `400 invalid request body: exceeded max depth within "/documents/0` + strings.Repeat("/0", 18) + "/…" + strings.Repeat("/0", 25) + `" after offset 10013`},
		{`{"documents": [` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `]}`, "400 document 0, value 0: want a number, or null for a missing value"},
		{`{"model": "` + strings.Repeat("x", 2e6) + `", "documents": []}`, `404 unknown model "` + strings.Repeat("x", 100) + `…": want one of default`},
		{`{"` + strings.Repeat("x", 2e6) + `": []}`, `400 invalid request body: unknown field "` + strings.Repeat("x", 100) + `…": want base_scores, documents, draw, explain, model, query, query_id, client_id, document_ids, vectors, interleave, key, segment, diversify, pins, boost, bury, quotas, exposure, attributes`},
	} {
		w := post(s, c.body)
		var out struct{ Error string }
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(w.Code, " ", out.Error); got != c.want {
			t.Errorf("%.30s…: %s, want %s", c.body, got, c.want)
		}
	}
}

// Clients whose bodies do not arrive take no place in flight from others, and get status 408.
func TestSlowBodiesTakeNoPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	s, _ := tested(t, Options{Models: only(path), Limits: Limits{Requests: 1, Timeout: time.Minute}})
	h := httptest.NewServer(s)
	defer h.Close()
	defer h.CloseClientConnections()
	for range 3 {
		testkit.InFlight(t, h.URL, 100_000_000) // too large, too: nobody knows it before it is there
		conn, _ := testkit.InFlight(t, h.URL, 1<<20)
		io.WriteString(conn, `{"documents": [`)
	}
	resp, err := http.Post(h.URL+"/v1/rank", "application/json", strings.NewReader(`{"documents": [[1, 1, 1]]}`))
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body.Close(); resp.StatusCode != http.StatusOK {
		t.Errorf("during slow bodies: %d", resp.StatusCode)
	}
	s, _ = tested(t, Options{Models: only(path), Limits: Limits{Timeout: 100 * time.Millisecond}})
	h = httptest.NewServer(s)
	defer h.Close()
	_, answer := testkit.InFlight(t, h.URL, 1000)
	text, err := io.ReadAll(answer) // ends when the server closes
	if err != nil || !strings.Contains(string(text), "408") || !strings.Contains(string(text), `"the body did not arrive within 100ms"`) {
		t.Errorf("%s, %v", text, err)
	}
}

// FuzzRank: no body makes the handler panic, and every answer is JSON.
func FuzzRank(f *testing.F) {
	path := filepath.Join(f.TempDir(), "m.npz")
	testkit.LinearModel(f, path, 1, 2, 3)
	s, text := tested(f, Options{Models: only(path), Limits: Limits{Documents: 100}})
	for _, body := range []string{`{"documents": [[1, 2, 3], {"9": 4}, [5, null, 0]], "draw": {"cutoff": 2, "seed": 7}}`, `{"model":"x"}`, `[`, `{"documents":[{"1":1e39}]}`} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		text.Reset()
		w := post(s, body)
		if !json.Valid(w.Body.Bytes()) || w.Code != 200 && (w.Code < 400 || w.Code >= 500) {
			t.Errorf("%d, %s", w.Code, w.Body)
		}
	})
}
