package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
)

// linear writes a model of three features, 1, 5 and 9, whose score is w·x.
func linear(t testing.TB, path string, w ...float64) {
	t.Helper()
	f := &ranker.File{
		Kind: "mlp", Settings: json.RawMessage(`{"features":3,"activation":"relu"}`), Dtype: "float32",
		Arrays:     []ranker.Array{{Name: "w0", Shape: []int{3}, Values: w}, {Name: "b0", Shape: []int{1}, Values: []float64{0}}},
		Transform:  &datasets.Transform{Spec: "none", Inputs: 3, Columns: []int{0, 1, 2}, Parts: []datasets.TransformPart{{Name: "none"}}},
		FeatureIDs: []int{1, 5, 9}, Gain: "exp2",
	}
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
}

// tested is a server of the given models, by the flags.
func tested(t testing.TB, args ...string) (*server, *bytes.Buffer) {
	t.Helper()
	o := &options{}
	if err := flags(o).Parse(args); err != nil {
		t.Fatal(err)
	}
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	s := newServer(o, log.New(&text, "", 0))
	if err := s.refresh(true); err != nil {
		t.Fatal(err)
	}
	return s, &text
}

func post(s *server, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.handler().ServeHTTP(w, httptest.NewRequest("POST", "/v1/rank", strings.NewReader(body)))
	return w
}

func TestRank(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.npz"), filepath.Join(dir, "two.npz")
	linear(t, one, 1, 10, 100)
	linear(t, two, -1, 0, 0)
	s, _ := tested(t, "-model", one, "-model", "other="+two)
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

// A drawn ranking, its probability and the propensities are those of the policy, which the
// answer names: of the scores divided by the temperature.
func TestDraw(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	linear(t, path, 1, 10, 100)
	s, _ := tested(t, "-model", path)
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

func TestBadRequests(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	linear(t, path, 1, 1, 3e38)
	s, text := tested(t, "-model", path, "-max-body", "300", "-max-documents", "3", "-max-cutoff", "2")
	for body, want := range map[string]string{
		``:                                                                          "400 invalid request body: byte 0: unexpected end of JSON input",
		`{"documents": [[1, 2`:                                                      "400 invalid request body: byte 20: unexpected end of JSON input",
		`{"documents": [[1, 2, 3]]} x`:                                              "400 invalid request body: byte 28: invalid character 'x' after top-level value",
		`{"documents": []}{"documents": []}`:                                        "400 invalid request body: byte 18: invalid character '{' after top-level value",
		`[{"documents": []}]`:                                                       "400 invalid request body: want an object",
		`"documents"`:                                                               "400 invalid request body: want an object",
		`{"documents": [[1, 2]]}`:                                                   "400 document 0 has 2 features, want 3",
		`{"documents": [[1, 2, 3], {"2": 1}]}`:                                      `400 document 1: "2" is no feature id of the model`,
		`{"documents": [{"05": 1}]}`:                                                `400 document 0: "05" is no feature id`,
		`{"documents": [[1, 2, 1e39]]}`:                                             "400 document 0, value 2: 1e39 is beyond the range of float32",
		`{"documents": [{"5": -1e39}]}`:                                             "400 document 0, feature 5: -1e39 is beyond",
		`{"documents": [[1, 2, NaN]]}`:                                              "400 invalid request body: byte 23: invalid character 'N'",
		`{"documents": [[0, 0, 10]]}`:                                               "400 ranker: the score of document 0 is +Inf",
		`{"documents": [null]}`:                                                     "400 document 0: want an array of numbers, or an object",
		`{"documents": [[1, "2,3"]]}`:                                               "400 document 0, value 1: want a number, or null",
		`{"documents": [[1, true, [3]]]}`:                                           "400 document 0, value 1: want a number, or null",
		`{"documents": [{"5": "x"}]}`:                                               "400 document 0, feature 5: want a number, or null",
		`{"documents": ["x"]}`:                                                      "400 document 0: want an array of numbers, or an object",
		`{"documents": [], "modle": "x"}`:                                           `400 invalid request body: unknown field "modle": want documents, draw, model`,
		`{"Documents": []}`:                                                         `400 invalid request body: unknown field "Documents"`,
		`{"model": 5, "documents": []}`:                                             `400 invalid request body: model: want a text`,
		`{"documents": {}}`:                                                         "400 documents: want an array",
		`{"documents": null}`:                                                       "400 no documents: want an array",
		`{"documents": [], "documents": []}`:                                        `400 invalid request body: "documents" comes twice`,
		`{"documents": [], "d\u006fcuments": []}`:                                   `400 invalid request body: "documents" comes twice`,
		`{"model": null, "model": "x", "documents": []}`:                            `400 invalid request body: "model" comes twice`,
		`{"documents": [{"5": 1, "9": 2, "5": 1}]}`:                                 "400 document 0: feature 5 comes twice",
		`{"documents": [{}, {"5": 1, "\u0035": 1}]}`:                                "400 document 1: feature 5 comes twice",
		`{"model": "x", "documents": []}`:                                           `404 unknown model "x": want one of default`,
		`{"documents": [{}, {}, {}, {}]}`:                                           "413 4 documents, 3 at most",
		strings.Repeat(" ", 301):                                                    "413 the body has more than 300 bytes",
		`{"draw": {"cutoff": 1, "seed": 1}}`:                                        "400 no documents: want an array",
		`{"documents": [], "draw": []}`:                                             "400 invalid request body: draw: want an object",
		`{"documents": [], "draw": {}}`:                                             "400 invalid request body: draw: no cutoff: want the number of ranks to draw, 1 or more",
		`{"documents":[],"draw":{"seed":7}}`:                                        "400 invalid request body: draw: no cutoff: want the number of ranks to draw, 1 or more",
		`{"documents":[],"draw":{"seed":7,"cutoff":null}}`:                          "400 invalid request body: draw: no cutoff",
		`{"documents":[],"draw":{"cutoff":0,"seed":7}}`:                             "400 invalid request body: draw: cutoff 0, want a whole number, 1 or more",
		`{"documents":[],"draw":{"cutoff":1.5,"seed":7}}`:                           "400 invalid request body: draw: cutoff 1.5, want a whole number",
		`{"documents":[],"draw":{"cutoff":"1","seed":7}}`:                           `400 invalid request body: draw: cutoff "1", want a whole number`,
		`{"documents":[],"draw":{"cutoff":1}}`:                                      "400 invalid request body: draw: no seed: want a whole number",
		`{"documents":[],"draw":{"cutoff":1,"seed":-1}}`:                            "400 invalid request body: draw: seed -1, want a whole number from 0 to 18446744073709551615",
		`{"documents":[],"draw":{"cutoff":1,"seed":1,"seed":2}}`:                    `400 invalid request body: draw: "seed" comes twice`,
		`{"documents":[],"draw":{"cutoff":1,"seed":1,"k":2}}`:                       `400 invalid request body: draw: unknown field "k": want cutoff, seed, temperature`,
		`{"documents":[{},{},{}],"draw":{"cutoff":3,"seed":1}}`:                     "400 draw: cutoff 3, 2 at most",
		`{"documents":[{},{},{}],"draw":{"cutoff":99999999999999999999,"seed":1}}`:  "400 draw: cutoff 9223372036854775807, 2 at most",
		`{"documents":[],"draw":{"cutoff":1,"seed":1,"temperature":0}}`:             "400 invalid request body: draw: temperature 0, want a positive, finite number",
		`{"documents":[],"draw":{"cutoff":1,"seed":1,"temperature":-2}}`:            "400 invalid request body: draw: temperature -2, want",
		`{"documents":[],"draw":{"cutoff":1,"seed":1,"temperature":1e999}}`:         "400 invalid request body: draw: temperature 1e999, want",
		`{"documents":[],"draw":{"cutoff":1,"seed":1,"temperature":1e-999}}`:        "400 invalid request body: draw: temperature 1e-999, want",
		`{"documents":[],"draw":{"cutoff":1,"seed":1,"temperature":"2"}}`:           `400 invalid request body: draw: temperature "2", want`,
		`{"documents":[[9,0,0]],"draw":{"cutoff":1,"seed":1,"temperature":1e-310}}`: "400 ranker: the score 9 of document 0, divided by the temperature 1e-310, is beyond",
		`{"documents":[[1, 2, ` + strings.Repeat("9", 200) + `]]}`:                  "400 document 0, value 2: " + strings.Repeat("9", 100) + "… is beyond the range",
	} {
		text.Reset()
		w := post(s, body)
		var out struct{ Error string }
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(w.Code, " ", out.Error); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
		if strings.Count(text.String(), "\n") != 1 || !strings.Contains(text.String(), out.Error) {
			t.Errorf("%s: logged %q", body, text)
		}
	}
}

// Where there are several models, and none is called default, a request names one.
func TestNoModelIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	linear(t, path, 1, 2, 3)
	s, _ := tested(t, "-model", "a="+path, "-model", "b="+path)
	for _, body := range []string{`{"documents": []}`, `{"documents": [], "model": ""}`, `{"documents": [], "model": null}`} {
		if w := post(s, body); w.Code != 404 || !strings.Contains(w.Body.String(), "no model is named, and none is called default: want one of a, b") {
			t.Errorf("%s: %d, %s", body, w.Code, w.Body)
		}
	}
	if w := post(s, `{"documents": [], "model": "default"}`); w.Code != 404 || !strings.Contains(w.Body.String(), `unknown model \"default\": want one of a, b`) {
		t.Errorf("%d, %s", w.Code, w.Body)
	}
}

func TestCompressedBody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	linear(t, path, 1, 2, 3)
	s, _ := tested(t, "-model", path)
	for encoding, status := range map[string]int{"gzip": 415, "br": 415, "identity": 200, "": 200} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/rank", strings.NewReader(`{"documents": []}`))
		r.Header.Set("Content-Encoding", encoding)
		if s.handler().ServeHTTP(w, r); w.Code != status {
			t.Errorf("%q: %d, %s", encoding, w.Code, w.Body)
		}
	}
}

func TestOtherPaths(t *testing.T) {
	dir := t.TempDir()
	path, token := filepath.Join(dir, "m.npz"), filepath.Join(dir, "token")
	linear(t, path, 1, 2, 3)
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, _ := tested(t, "-model", path, "-token-file", token)
	get := func(path, token string) (int, string) {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", path, nil)
		if path == "/v1/rank" {
			r = httptest.NewRequest("POST", path, strings.NewReader(`{"documents": [[1, 2, 3]]}`))
		}
		if token != "" {
			r.Header.Set("Authorization", token)
		}
		s.handler().ServeHTTP(w, r)
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
		{"/metrics", "Bearer secret", 200, `plrank_requests_total{code="401"} 6`},
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
	s.handler().ServeHTTP(w, httptest.NewRequest("GET", "/v1/rank", nil))
	if w.Code != 405 || w.Header().Get("Allow") != "POST" || !strings.Contains(w.Body.String(), `{"error":"no GET /v1/rank`) {
		t.Errorf("another method: %d, %v, %s", w.Code, w.Header(), w.Body)
	}
	var document struct{ Paths map[string]any }
	if err := json.Unmarshal(openAPI, &document); err != nil || len(document.Paths) != 7 {
		t.Errorf("%v, %v", document.Paths, err)
	}
}

// A token that changes is asked for from then on; a file without one changes nothing, and
// is logged once.
func TestTokenChanges(t *testing.T) {
	dir := t.TempDir()
	path, token := filepath.Join(dir, "m.npz"), filepath.Join(dir, "token")
	linear(t, path, 1, 2, 3)
	write := func(text string) {
		if err := os.WriteFile(token, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	s, logged := tested(t, "-model", path, "-token-file", token)
	admitted := func(word string) bool {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/v1/models", nil)
		r.Header.Set("Authorization", "Bearer "+word)
		s.handler().ServeHTTP(w, r)
		return w.Code == 200
	}
	for _, c := range []struct{ text, now, not, logged string }{
		{"first", "first", "second", ""},
		{"second\n", "second", "first", "the token has changed"},
		{" \n", "second", "", "the token stays as it is: " + token + ": no token in the file"},
		{"third", "third", "second", "the token has changed"},
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

// started is the address of the command, and a function that ends it.
func started(t *testing.T, args ...string) (url string, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	at, status := make(chan net.Addr, 1), make(chan int, 1)
	go func() {
		status <- run(ctx, append([]string{"-listen", "localhost:0", "-drain", "300ms"}, args...), io.Discard, io.Discard, func(a net.Addr) { at <- a })
	}()
	select {
	case a := <-at:
		return "http://" + a.String(), func() int { cancel(); return <-status }
	case s := <-status:
		cancel()
		t.Fatalf("ended with status %d", s)
	}
	return "", nil
}

// While models are reloaded, good and bad ones, every request gets the scores of one of
// them; and when the service ends, those that have come get theirs.
func TestReloadUnderLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	linear(t, path, 1, 2, 3)
	url, stop := started(t, "-model", path, "-poll", "1ms")
	documents := strings.Repeat("[1,1,1],", 20)
	body := `{"documents":[` + documents[:len(documents)-1] + `]}`
	var ending atomic.Bool
	var answered atomic.Int64
	var group sync.WaitGroup
	seen := map[float64]*atomic.Bool{6: {}, 60: {}}
	for range 4 {
		group.Go(func() {
			for {
				resp, err := http.Post(url+"/v1/rank", "application/json", strings.NewReader(body))
				if err != nil {
					if !ending.Load() {
						t.Error(err)
					}
					return
				}
				var out response
				err = json.NewDecoder(resp.Body).Decode(&out)
				resp.Body.Close()
				if err != nil || resp.StatusCode != 200 || len(out.Scores) != 20 {
					t.Errorf("%d, %v, %v", resp.StatusCode, out.Scores, err)
					return
				}
				for _, s := range out.Scores {
					if s != out.Scores[0] || s != 6 && s != 60 {
						t.Errorf("scores of two models: %v", out.Scores)
						return
					}
				}
				seen[out.Scores[0]].Store(true)
				answered.Add(1)
			}
		})
	}
	both := func() bool { return seen[6].Load() && seen[60].Load() }
	for i := 0; i < 30 || i < 3000 && (!both() || answered.Load() < 50); i++ {
		switch i % 3 {
		case 0:
			linear(t, path, 10, 20, 30)
		case 1:
			if err := os.WriteFile(path, []byte("no model"), 0o644); err != nil {
				t.Error(err)
			}
		case 2:
			linear(t, path, 1, 2, 3)
		}
		time.Sleep(10 * time.Millisecond)
	}
	ending.Store(true)
	if status := stop(); status != 0 {
		t.Errorf("status %d", status)
	}
	group.Wait()
	if !both() || answered.Load() < 50 {
		t.Errorf("%d requests were answered, with scores of both models: %v", answered.Load(), both())
	}
}

// underWay is a connection with a request whose body of so many bytes the service waits for: it
// has said that it does.
func underWay(t *testing.T, url string, length int) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "POST /v1/rank HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", length)
	answer := bufio.NewReader(conn)
	if line, err := answer.ReadString('\n'); err != nil || line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("%q, %v", line, err)
	}
	answer.ReadString('\n') // an empty line
	return conn, answer
}

// A request that is under way when the service is told to end is answered.
func TestShutdown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	linear(t, path, 1, 2, 3)
	url, stop := started(t, "-model", path)
	const body = `{"documents": [[1, 1, 1]]}`
	conn, answer := underWay(t, url, len(body))
	io.WriteString(conn, body[:20])
	ended := make(chan int, 1)
	go func() { ended <- stop() }()
	for { // until the service takes no more connections
		other, err := net.Dial("tcp", conn.RemoteAddr().String())
		if err != nil {
			break
		}
		other.Close()
	}
	io.WriteString(conn, body[20:])
	if got, err := io.ReadAll(answer); err != nil || !strings.Contains(string(got), `"scores":[6]`) {
		t.Errorf("%s, %v", got, err)
	}
	if status := <-ended; status != 0 {
		t.Errorf("status %d", status)
	}
}

// A client that sends one request after another on its connection loses none of them when the
// service is told to end: an answer says that the connection ends.
func TestShutdownOfKeptConnections(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	linear(t, path, 1, 2, 3)
	url, stop := started(t, "-model", path)
	const clients = 4
	working, ended := make(chan bool, clients), make(chan error, clients)
	for range clients {
		go func() {
			conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
			if err != nil {
				ended <- err
				return
			}
			defer conn.Close()
			in := bufio.NewReader(conn)
			const body = `{"documents": [[1, 1, 1]]}`
			for n := 0; ; n++ {
				fmt.Fprintf(conn, "POST /v1/rank HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
				answer, err := http.ReadResponse(in, nil)
				if err == nil {
					_, err = io.Copy(io.Discard, answer.Body)
				}
				if err != nil || answer.Close {
					ended <- err
					return
				}
				if n == 10 {
					working <- true
				}
			}
		}()
	}
	for range clients {
		<-working
	}
	if status := stop(); status != 0 {
		t.Errorf("status %d", status)
	}
	for range clients {
		if err := <-ended; err != nil {
			t.Errorf("a request was lost: %v", err)
		}
	}
}

// Many documents, or values, in a large body are refused before they are decoded, which would
// take memory and time beyond measure.
func TestManyDocuments(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	linear(t, path, 1, 2, 3)
	s, _ := tested(t, "-model", path, "-max-documents", "300000")
	many := func(part string, n int) string { return strings.Repeat(part+",", n-1) + part }
	for _, c := range []struct{ body, want string }{
		{`{"documents": [` + many("[]", 400000) + `]}`, "413 400000 documents, 300000 at most"},
		{`{"model": "a\"[{", "documents": [` + many("{}", 400000) + `]}`, "413 400000 documents, 300000 at most"},
		{`{"documents": [{}, [` + many("1", 600000) + `]]}`, "400 document 1 has 600000 features, want 3"},
		{`{"documents": [{` + many(`"1":0`, 200000) + `}]}`, "400 document 0: feature 1 comes twice"},
		{`{"documents": [` + many("[1,1,1]", 200000) + `]}`, "200 "},
		{`{"documents": [` + many("[1,1,1]", 200000), "400 invalid request body: byte 1600014: unexpected end of JSON input"},
		{strings.Repeat("[", 2e6), "400 invalid request body: byte 10001: invalid character '[' exceeded max depth"},
		{`{"documents": [` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `]}`, "400 document 0, value 0: want a number, or null where it is missing"},
		{`{"model": "` + strings.Repeat("x", 2e6) + `", "documents": []}`, `404 unknown model "` + strings.Repeat("x", 100) + `…": want one of default`},
		{`{"` + strings.Repeat("x", 2e6) + `": []}`, `400 invalid request body: unknown field "` + strings.Repeat("x", 100) + `…": want documents, draw, model`},
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

// A client that does not send what it promised loses its connection, and its place.
func TestSlowClient(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	linear(t, path, 1, 2, 3)
	status := func(url string) int {
		resp, err := http.Post(url+"/v1/rank", "application/json", strings.NewReader(`{"documents": [[1, 1, 1]]}`))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	url, stop := started(t, "-model", path, "-concurrency", "1")
	conn, _ := underWay(t, url, 1000)
	if s := status(url); s != http.StatusServiceUnavailable {
		t.Errorf("beside a request at work: %d", s)
	}
	conn.Close()
	stop()
	url, stop = started(t, "-model", path, "-concurrency", "1", "-timeout", "1s")
	defer stop()
	_, answer := underWay(t, url, 1000)
	text, err := io.ReadAll(answer) // ends when the server closes
	if err != nil || !strings.Contains(string(text), "408") || !strings.Contains(string(text), `{"error":"the body did not come within 1s"}`) {
		t.Errorf("%s, %v", text, err)
	}
	if s := status(url); s != 200 {
		t.Errorf("after the slow client: %d", s)
	}
}

func TestCommandLine(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "token")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"-model is needed":                     {},
		"there are two models called":          {"-model", "a=x", "-model", "a=y"},
		"want NAME=FILE, or FILE":              {"-model", "=x"},
		"no such file":                         {"-model", filepath.Join(dir, "none")},
		"limits must be 1 or more":             {"-model", "x", "-max-body", "0"},
		"-timeout must be more than 0":         {"-model", "x", "-drain", "-1s"},
		"no token in the file":                 {"-model", "x", "-token-file", empty},
		"there is no flag -modell":             {"-modell", "x"},
		"POST /v1/rank ranks the documents of": {"-help"},
	} {
		var text bytes.Buffer
		run(t.Context(), args, &text, &text, func(net.Addr) {})
		if !strings.Contains(text.String(), want) {
			t.Errorf("%v: %s, want %s", args, &text, want)
		}
	}
}

// FuzzRank: no body makes the handler panic, and every answer is JSON.
func FuzzRank(f *testing.F) {
	path := filepath.Join(f.TempDir(), "m.npz")
	linear(f, path, 1, 2, 3)
	s, text := tested(f, "-model", path, "-max-documents", "100")
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

// SIGHUP has all models read again, also where their files did not change, with requests
// under way.
func TestHangup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	linear(t, path, 1, 2, 3)
	url, stop := started(t, "-model", path, "-poll", "0")
	defer stop()
	get := func(path string) string {
		resp, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%d, %v", resp.StatusCode, err)
		}
		return string(text)
	}
	score := func() string {
		resp, err := http.Post(url+"/v1/rank", "application/json", strings.NewReader(`{"documents": [[1, 1, 1]]}`))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return string(text)
	}
	linear(t, path, 10, 20, 30)
	if got := score(); !strings.Contains(got, `"scores":[6]`) {
		t.Errorf("without a signal: %s", got)
	}
	hangup := func(loads int) {
		process, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = process.Signal(syscall.SIGHUP)
		}
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`plrank_model_loads_total{model="default",result="ok"} %d`, loads)
		for end := time.Now().Add(20 * time.Second); !strings.Contains(get("/metrics"), want+"\n"); {
			if time.Now().After(end) {
				t.Fatalf("no %s in\n%s", want, get("/metrics"))
			}
			if got := score(); !strings.Contains(got, `"scores":[6]`) && !strings.Contains(got, `"scores":[60]`) {
				t.Fatal(got)
			}
		}
	}
	hangup(2)
	if got := score(); !strings.Contains(got, `"scores":[60]`) {
		t.Errorf("after a signal: %s", got)
	}
	hangup(3) // of the same file
}
