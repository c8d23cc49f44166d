package serve

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/transforms"
)

// large is a draw that takes some tenths of a second and some 20 MB.
var large = testkit.DrawRequest(1010, 1000)

// The answer to a request beyond the limit of work names the limit.
func TestRequestBeyondTheWorkLimitIsRefused(t *testing.T) {
	dir := t.TempDir()
	path, attention := filepath.Join(dir, "m.npz"), filepath.Join(dir, "attention.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	attending(t, attention)
	s, _ := tested(t, Options{Models: map[string]string{"default": path, "attention": attention}, Limits: Limits{Work: 20000}})
	for _, c := range []struct {
		body, want string
		status     int
	}{
		{testkit.DrawRequest(100, 190), "", 200},
		{testkit.DrawRequest(200, 100), "200 documents with 100 ranks to draw, in 652 bytes, are 20115 units of work, at most 20000 are allowed", 400},
		{testkit.DrawRequest(1800, 10000), "", 200}, // of all ranks, 9 units a document
		{testkit.DrawRequest(2000, 10000), "2000 documents with 2000 ranks to draw, in 6054 bytes, are 21132 units", 400},
		{`{"model": "attention", "documents": [` + strings.Repeat("{},", 999) + `{}]}`, "", 200},
		// 6038 bytes / 16, 2000 documents of 6 inputs / 16, 373 weights / 2000, and 2000² pairs · 2 blocks · 2 products · width 4 / 2000
		{`{"model": "attention", "documents": [` + strings.Repeat("{},", 1999) + `{}]}`, "2000 documents with 0 ranks to draw, in 6038 bytes, are 33500 units", 400},
	} {
		if w := post(s, c.body); w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%d, %.200s, want %d, %s", w.Code, w.Body, c.status, c.want)
		}
	}
}

// BenchmarkPriceOfEvents reports how long a unit of work takes of the price of events, whatever they are made of: about as
// long as the 200 ns that one of other requests takes, at the speed at which json.Valid, which is reported beside it, takes 5 ns
// a byte.
func BenchmarkPriceOfEvents(b *testing.B) {
	const size = 1 << 14
	for name, body := range map[string]string{
		"hits":          `{"action_name":"v","query_response_hit_ids":[` + strings.Repeat("1,", size/2) + `1]}`,
		"drawn":         `{"action_name":"v","query_attributes":{"plrank":{"drawn":[` + strings.Repeat("1,", size/2) + `1]}}}`,
		"names":         `{"action_name":"v"` + strings.Repeat(`,"a":1`, size/6) + `}`,
		"escaped names": `{"action_name":"v"` + strings.Repeat(`,"\n":1`, size/7) + `}`,
		"clicks":        "[" + strings.Repeat(`{"action_name":"click","query_id":"q","event_attributes":{"object":{"object_id":"a"}}},`, size/87) + `{"action_name":"v"}]`,
	} {
		b.Run(name, func(b *testing.B) {
			took, valid := time.Hour, time.Hour // the shortest times
			for b.Loop() {
				start := time.Now()
				if _, _, err := appendEvents(nil, []byte(body), size); err != nil {
					b.Fatal(err)
				}
				middle := time.Now()
				json.Valid([]byte(body))
				took, valid = min(took, middle.Sub(start)), min(valid, time.Since(middle))
			}
			b.ReportMetric(float64(took.Nanoseconds())/float64(len(body)/eventBytes), "ns/unit")
			b.ReportMetric(float64(valid.Nanoseconds())/float64(len(body)), "valid-ns/byte")
		})
	}
}

// Events are computed among large requests, and refused beyond the limit of work, as others are.
func TestEventsHaveAPrice(t *testing.T) {
	s, _ := logging(t)
	event := `{"action_name": "view", "message": "` + strings.Repeat("x", lightWork*eventBytes) + `"}`
	s.limits.Timeout = 50 * time.Millisecond
	for range cap(s.lanes.heavy) {
		s.lanes.heavy <- struct{}{}
	}
	if w := send(s, "/v1/events", event); w.Code != 503 {
		t.Errorf("large events during other large requests: %d, %.100s", w.Code, w.Body)
	}
	for range cap(s.lanes.heavy) {
		<-s.lanes.heavy
	}
	s.limits.Work = lightWork
	if w := send(s, "/v1/events", event); w.Code != 400 || !strings.Contains(w.Body.String(), "bytes of events are 100009 units of work, at most 100000 are allowed") {
		t.Errorf("%d, %.300s", w.Code, w.Body)
	}
}

// attending writes a model with attention, four units wide, for the features of testkit.LinearModel.
func attending(t testing.TB, path string) {
	t.Helper()
	f := &ranker.File{
		Kind: "attention", Settings: json.RawMessage(`{"features":3,"activation":"relu","hidden":[4],"blocks":2}`), Dtype: "float32",
		Transform:  &transforms.Transform{Spec: "none", Inputs: 3, Columns: []int{0, 1, 2}, Parts: []transforms.Part{{Name: "none"}}},
		FeatureIDs: []int{1, 5, 9}, Gain: "exp2",
	}
	add := func(name string, shape ...int) {
		size := 1
		for _, n := range shape {
			size *= n
		}
		f.Arrays = append(f.Arrays, ranker.Array{Name: name, Shape: shape, Values: make([]float64, size)})
	}
	dense := func(name string, in, out int) { add(name+".w", in, out); add(name+".b", out) }
	add("w0", 3, 4)
	add("b0", 4)
	add("w1", 4)
	add("b1", 1)
	for _, block := range []string{"block0.", "block1."} {
		dense(block+"qkv", 4, 12)
		dense(block+"merge", 4, 4)
		dense(block+"up", 4, 8)
		dense(block+"down", 8, 4)
		for _, norm := range []string{"norm1", "norm2"} {
			add(block+norm+".gain", 4)
			add(block+norm+".bias", 4)
		}
	}
	add("norm.gain", 4)
	add("norm.bias", 4)
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
}

// The timeout bounds computing: the client gets an answer, and the computation stops.
func TestTimeoutEndsComputing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	s, _ := tested(t, Options{Models: only(path), Limits: Limits{Timeout: 300 * time.Millisecond}})
	h := httptest.NewServer(s)
	defer h.Close()
	resp, err := http.Post(h.URL+"/v1/rank", "application/json", strings.NewReader(testkit.DrawRequest(10000, 1000)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" || !strings.Contains(string(text), "no answer within 300ms") {
		t.Errorf("%d, %.200s, %v", resp.StatusCode, text, err)
	}
}

// The computation stops when the client closes its connection.
func TestClosedConnectionEndsComputing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	s, _ := tested(t, Options{Models: only(path), Limits: Limits{Timeout: 10 * time.Minute}})
	h := httptest.NewServer(s)
	defer h.Close()
	ctx, hangUp := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", h.URL+"/v1/rank", strings.NewReader(testkit.DrawRequest(10000, 1000)))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		testkit.Await(t, "the work begins", func() bool { return len(s.lanes.heavy) == 1 })
		hangUp()
	}()
	if resp, err := http.DefaultClient.Do(r); err == nil {
		t.Fatal("answered with status ", resp.StatusCode)
	}
	testkit.Await(t, "the work ends", func() bool { return len(s.lanes.heavy) == 0 })
	testkit.Await(t, "the end is counted", func() bool {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		return strings.Contains(w.Body.String(), `plrank_requests_total{code="499",model="default"} 1`)
	})
}

// While all cores compute large requests, further large ones wait, and get status 503 at the
// timeout; small ones are answered.
func TestLargeRequestsWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	s, _ := tested(t, Options{Models: only(path), Limits: Limits{Timeout: 50 * time.Millisecond}})
	for range cap(s.lanes.heavy) {
		s.lanes.heavy <- struct{}{}
	}
	if w := post(s, large); w.Code != 503 {
		t.Errorf("a large request during others: %d, %.100s", w.Code, w.Body)
	}
	s.limits.Timeout = 10 * time.Minute
	if w := post(s, testkit.DrawRequest(10, 10)); w.Code != 200 {
		t.Errorf("a small request during them: %d, %.100s", w.Code, w.Body)
	}
	answered := make(chan int)
	go func() { answered <- post(s, large).Code }()
	for range cap(s.lanes.heavy) {
		<-s.lanes.heavy
	}
	if code := <-answered; code != 200 {
		t.Errorf("a large request after them: %d", code)
	}
}

// The number of large bodies in memory is limited.
func TestLargeBodiesWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	s, _ := tested(t, Options{Models: only(path), Limits: Limits{Timeout: 50 * time.Millisecond}})
	for range cap(s.lanes.bodies) {
		s.lanes.bodies <- struct{}{}
	}
	blanks := strings.Repeat(" ", 2*keptBytes)
	for _, body := range []io.Reader{strings.NewReader(`{"documents": []}` + blanks), io.MultiReader(strings.NewReader(`{"documents": []}` + blanks))} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("POST", "/v1/rank", body)) // the length of the second is not known
		if w.Code != 503 {
			t.Errorf("a large body during others: %d, %.100s", w.Code, w.Body)
		}
	}
	s.limits.Timeout = 10 * time.Minute
	if w := post(s, `{"documents": []}`); w.Code != 200 {
		t.Errorf("a small body during them: %d, %.100s", w.Code, w.Body)
	}
	<-s.lanes.bodies
	if w := post(s, `{"documents": []}`+blanks); w.Code != 200 || len(s.lanes.bodies) != cap(s.lanes.bodies)-1 {
		t.Errorf("a large body after them: %d, %.100s, %d in memory", w.Code, w.Body, len(s.lanes.bodies))
	}
}

// Large requests leave nothing behind, and memory goes back to the system when the service is
// idle.
func TestLargeRequestsFreeTheirMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	s, _ := tested(t, Options{Models: only(path), Limits: Limits{Timeout: time.Minute}})
	read := func() (m runtime.MemStats) {
		runtime.ReadMemStats(&m)
		return m
	}
	post(s, testkit.DrawRequest(10, 10))
	runtime.GC()
	before := read()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if w := post(s, large); w.Code != 200 {
				t.Errorf("%d, %.100s", w.Code, w.Body)
			}
		})
	}
	group.Wait()
	runtime.GC() // one: what pools have stays
	after := read()
	if after.HeapAlloc > before.HeapAlloc+8<<20 {
		t.Errorf("%d MB are kept", (after.HeapAlloc-before.HeapAlloc)>>20)
	}
}
