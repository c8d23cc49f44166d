package serve

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/internal/cputime"
	"github.com/plrank/plrank/internal/testkit"
)

// binaryBody returns a body of values after a line of JSON.
func binaryBody(line string, values ...float32) []byte {
	body, err := binary.Append([]byte(line+"\n"), binary.LittleEndian, values)
	if err != nil {
		panic(err) // values have a size
	}
	return body
}

// postBinary sends a body of rowsType.
func postBinary(s *Service, body []byte) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/v1/rank", bytes.NewReader(body))
	r.Header.Set("Content-Type", rowsType)
	s.ServeHTTP(w, r)
	return w
}

// A binary body has the answer of the same documents in JSON.
func TestBinaryBodiesRankAsJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	if err := network(t, "minmax", 46, 2, 0, 8).Save(path); err != nil {
		t.Fatal(err)
	}
	linear := filepath.Join(t.TempDir(), "linear.npz")
	testkit.LinearModel(t, linear, 1, 10, 100)
	s, _ := tested(t, Options{Models: map[string]string{"default": path, "names": named(t), "linear": linear, "vectors": vectored(t)}})
	x := values(7, 46)
	x[3], x[50] = float32(math.NaN()), math.Float32frombits(0xff800001)
	documents := make([][]any, 7)
	for i, v := range x {
		documents[i/46] = append(documents[i/46], v)
		if v != v {
			documents[i/46][i%46] = nil
		}
	}
	text, err := json.Marshal(documents)
	if err != nil {
		t.Fatal(err)
	}
	missing := float32(math.NaN())
	for _, test := range []struct {
		line   string
		values []float32
		json   string
	}{
		{`{"documents": 7}`, x, `{"documents": ` + string(text) + `}`},
		{`{"documents": 7, "draw": {"cutoff": 3, "seed": 5}, "explain": {"document": 1, "against": 0}}`, x,
			`{"documents": ` + string(text) + `, "draw": {"cutoff": 3, "seed": 5}, "explain": {"document": 1, "against": 0}}`},
		{`{"model": "linear", "documents": 2, "features": null}`, []float32{1, 2, 3, missing, 0, 4}, `{"model": "linear", "documents": [[1, 2, 3], [null, 0, 4]]}`},
		{`{"model": "linear", "documents": 2, "features": ["9", "1"]}`, []float32{3, 1, 4, missing}, `{"model": "linear", "documents": [{"9": 3, "1": 1}, {"9": 4, "1": null}]}`},
		{`{"model": "names", "documents": 2, "features": ["size", "price"]}`, []float32{3, 1, 4, 2}, `{"model": "names", "documents": [{"size": 3, "price": 1}, {"price": 2, "size": 4}]}`},
		{`{"model": "names", "documents": 1, "features": ["1"]}`, []float32{3}, `{"model": "names", "documents": [{"1": 3}]}`},
		{`{"model": "linear", "documents": 2, "features": []}`, nil, `{"model": "linear", "documents": [{}, {}]}`},
		{`{"documents": 0}`, nil, `{"documents": []}`},
		{`{"model": "vectors", "documents": 2, "vectors": {"q": [3, 4], "d": [[3, 4], [0, 1]]}}`, []float32{1, 2},
			`{"model": "vectors", "documents": [[1], [2]], "vectors": {"q": [3, 4], "d": [[3, 4], [0, 1]]}}`},
		{`{"model": "vectors", "documents": 1}`, []float32{1, .5, 2}, `{"model": "vectors", "documents": [[1, 0.5, 2]]}`},
	} {
		got, want := postBinary(s, binaryBody(test.line, test.values...)), post(s, test.json)
		if want.Code != http.StatusOK || got.Code != want.Code || got.Body.String() != want.Body.String() {
			t.Errorf("%s: %d, %s, want %d, %s", test.line, got.Code, got.Body, want.Code, want.Body)
		}
	}
}

func TestBinaryBodiesAreChecked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 10, 100)
	s, _ := tested(t, Options{Models: map[string]string{"default": path, "names": named(t)}, Limits: Limits{Documents: 5}})
	six := []float32{1, 2, 3, 4, 5, 6}
	whole := binaryBody(`{"documents": 2}`, six...)
	for n := range whole {
		if w := postBinary(s, whole[:n]); w.Code != http.StatusBadRequest {
			t.Errorf("the first %d bytes: %d, %s", n, w.Code, w.Body)
		}
	}
	for _, test := range []struct {
		body []byte
		code int
		want string
	}{
		{nil, 400, "invalid request body: no line break: want a line of JSON before the values"},
		{[]byte(`{"documents": [[1, 2, 3]]}`), 400, "no line break"},
		{binaryBody("", six...), 400, "invalid request body: byte 0: want one value of JSON"},
		{binaryBody(`{"documents": [[1, 2, 3]]}`), 400, "documents [[1, 2, 3]], want the number of those whose values follow the line of JSON"},
		{binaryBody(`{}`, six...), 400, "documents , want the number"},
		{binaryBody(`{"documents": -1}`, six...), 400, "documents -1, want the number"},
		{binaryBody(`{"documents": 1.5}`, six...), 400, "documents 1.5, want the number"},
		{binaryBody(`{"documents": "2"}`, six...), 400, `documents \"2\", want the number`},
		{binaryBody(`{"documents": 99999999999999999999}`, six...), 400, "documents 99999999999999999999, want the number"},
		{binaryBody(`{"documents": 4611686018427387904}`, six...), 413, "4611686018427387904 documents, want at most 5"},
		{append(whole, 0), 400, "25 bytes after the first line, want 24: 4 for each of 3 values of 2 documents"},
		{binaryBody(`{"documents": 3}`, six...), 400, "24 bytes after the first line, want 36: 4 for each of 3 values of 3 documents"},
		{binaryBody(`{"documents": 2, "features": []}`, six...), 400, "24 bytes after the first line, want 0"},
		{binaryBody(`{"documents": 2, "features": "1"}`, six...), 400, "features: want an array of names or ids"},
		{binaryBody(`{"documents": 2, "features": [1]}`, 1, 2), 400, "features, entry 0: want a text"},
		{binaryBody(`{"documents": 2, "features": ["1", "2"]}`, six...), 400, `features: unknown feature \"2\": want one of feature_ids`},
		{binaryBody(`{"documents": 2, "features": ["1", "5", "1"]}`, six...), 400, "features: feature 1 is given twice"},
		{binaryBody(`{"model": "names", "documents": 2, "features": ["price", "9"]}`, 1, 2, 3, 4), 400, `features: feature \"9\" mixes names and ids`},
		{binaryBody(`{"model": "names", "documents": 2}`, six...), 400, "features: feature 5 has texts, which are not numbers: list others, or send"},
		{binaryBody(`{"model": "names", "documents": 1, "features": ["city"]}`, 1), 400, "features: feature 5 has texts"},
		{binaryBody(`{"documents": 2, "documents": 2}`, six...), 400, `\"documents\" occurs twice`},
		{binaryBody(`{"documents": 1}`, 1, float32(math.Inf(-1)), 3), 400, "document 0, feature 5: the value is -Inf"},
	} {
		if w := postBinary(s, test.body); w.Code != test.code || !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%q: %d, %s, want %d, %s", test.body, w.Code, w.Body, test.code, test.want)
		}
	}
	if w := post(s, `{"documents": [[1, 2, 3]], "features": ["1"]}`); w.Code != 400 || !strings.Contains(w.Body.String(), `unknown field \"features\"`) {
		t.Errorf("features in JSON: %d, %s", w.Code, w.Body)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		body := slices.Clone(whole)
		for range 1 + rng.IntN(3) {
			body[rng.IntN(len(body))] = byte(rng.IntN(256))
		}
		if w := postBinary(s, body); w.Code != 200 && w.Code != 400 && w.Code != 413 {
			t.Errorf("%q: %d, %s", body, w.Code, w.Body)
		}
	}
}

// A drawn ranking is logged with the features of a binary body.
func TestBinaryBodiesAreLogged(t *testing.T) {
	dir := t.TempDir()
	path, folder := filepath.Join(dir, "m.npz"), filepath.Join(dir, "clicks")
	testkit.LinearModel(t, path, 1, 10, 100)
	s, _ := tested(t, Options{Models: only(path), Clicks: folder})
	want := []float32{1, .1, -3e-30, 16777216, 0, float32(math.NaN())}
	if w := postBinary(s, binaryBody(`{"documents": 2, "query": "q", "document_ids": ["a", "b"], "draw": {"cutoff": 2}}`, want...)); w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	log, err := clicks.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	if got := log.Impressions[0].Features; !slices.EqualFunc(got, want, func(a, b float32) bool { return a == b || a != a && b != b }) {
		t.Errorf("logged %v, want %v", got, want)
	}
}

// BenchmarkBodies reports processor time of a request of 100 documents of 136 features, with numbers as Python's json writes them,
// and with values of float32.
//
//	go test ./serve -run - -bench Bodies
func BenchmarkBodies(b *testing.B) {
	const documents, width = 100, 136
	folder := b.TempDir()
	files := map[string]string{"network": filepath.Join(folder, "network.npz"), "forest": filepath.Join(folder, "forest.npz")}
	if err := network(b, "minmax+log-standard+quantile", width, 3, 0, 64).Save(files["network"]); err != nil {
		b.Fatal(err)
	}
	if err := trees(b, width, 200, 64, true).Save(files["forest"]); err != nil {
		b.Fatal(err)
	}
	s, err := New(Options{Models: files, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	arrays, objects, x := make([][]float64, documents), make([]map[string]float64, documents), make([]float32, 0, documents*width)
	for d := range documents {
		objects[d] = map[string]float64{}
		for c := range width {
			v := rng.NormFloat64()
			arrays[d], objects[d][fmt.Sprint(c+1)], x = append(arrays[d], v), v, append(x, float32(v))
		}
	}
	for name := range files {
		for kind, documents := range map[string]any{"arrays": arrays, "objects": objects, "binary": documents} {
			body, err := json.Marshal(struct {
				Model     string `json:"model"`
				Documents any    `json:"documents"`
			}{name, documents})
			if err != nil {
				b.Fatal(err)
			}
			send := func() *httptest.ResponseRecorder { return post(s, string(body)) }
			if kind == "binary" {
				body = binaryBody(string(body), x...)
				send = func() *httptest.ResponseRecorder { return postBinary(s, body) }
			}
			b.Run(name+"/"+kind, func(b *testing.B) {
				for b.Loop() {
					took := cputime.Shortest(100*time.Millisecond, func() {
						if w := send(); w.Code != http.StatusOK {
							b.Fatal(w.Code, w.Body)
						}
					})
					b.ReportMetric(float64(took.Microseconds()), "µs/request")
					b.ReportMetric(float64(len(body)), "bytes")
				}
			})
		}
	}
}
