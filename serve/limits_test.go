package serve

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plrank/plrank/internal/cputime"
	"github.com/plrank/plrank/internal/testkit"
)

// large is a draw that takes some tenths of a second and some 20 MB.
var large = testkit.DrawRequest(1010, 1000)

// A request is refused if the prices of its parts add up to more than the limit of work, and the answer says which one is too
// many. Here a document takes 1 ms, and a pair of documents 1 µs.
func TestRequestBeyondTheWorkLimitIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	s, _ := tested(t, Options{Models: only(path)})
	m := s.models["default"].model.Load()
	m.scoring, m.transforming = curve{call: 10_000, document: 1e6, pair: 1000}, curve{document: 4e5}
	documents := "[" + strings.Repeat("[0,0,0],", 99) + "[1,2,0]]"
	scored := 10_000. + 100*1e6 + 100*100*1000 + requestTime + 100*(documentTime+3*valueTime)
	drawn, err := (&draw{cutoff: 10, temperature: 1}).price(append(make([]float64, 99), 5))
	if err != nil {
		t.Fatal(err)
	}
	// Two columns differ between the documents 99 and 0: in 5 orders, each of them has a pass of 4 documents without the transform.
	explained := scored - requestTime - 100*(documentTime+3*valueTime) +
		5*(orderTime+10_000) + 20*(swapTime/2+6e5+4*1000)
	for _, c := range []struct {
		rest, part string
		price      float64
	}{
		{"", "its scores", scored},
		{`, "draw": {"cutoff": 10}`, "its draw", scored + drawn},
		{`, "explain": {"document": 99, "against": 0, "permutations": 10}`, "its explanation", scored + explained},
	} {
		body := `{"documents": ` + documents + c.rest + "}"
		price := c.price + bodyTime*float64(len(body))
		s.limits.Work = int(price/unit) + 1
		if w := post(s, body); w.Code != http.StatusOK {
			t.Errorf("%s: %d, %s", c.part, w.Code, w.Body)
		}
		s.limits.Work--
		want := fmt.Sprintf("with %s the request takes %.0f units of work, at most %d are allowed: send", c.part, price/unit, s.limits.Work)
		if w := post(s, body); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%d, %s, want %s", w.Code, w.Body, want)
		}
	}
	s.limits.Work = 10
	w := post(s, `{"documents": []`+strings.Repeat(" ", 1000)+"}")
	if !strings.Contains(w.Body.String(), "with its body the request takes 25 units of work") {
		t.Errorf("%d, %s", w.Code, w.Body)
	}
}

// A line or a parabola is found from some of its points.
func TestFitFindsTheCurve(t *testing.T) {
	for _, want := range []curve{{100, 20, 0}, {0, 3, 0.5}, {7, 0, 2}, {5, 0, 0}} {
		for points := 2; points <= len(sampleSizes); points++ {
			if want.pair > 0 && points == 2 {
				continue // of a parabola three are needed
			}
			var times []float64
			for _, n := range sampleSizes[:points] {
				times = append(times, want.call+float64(n)*(want.document+float64(n)*want.pair))
			}
			for _, compares := range []bool{true, want.pair > 0} {
				got := fit(compares, times)
				if off := math.Abs(got.at(5000) - want.at(5000)); off > 1e-6*want.at(5000)+1e-3 {
					t.Errorf("%d points: %+v, want %+v", points, got, want)
				}
			}
		}
	}
}

// BenchmarkPriceOfEvents reports the price of events over the time that they take, whatever they are made of.
func BenchmarkPriceOfEvents(b *testing.B) {
	const size = 1 << 14
	for name, body := range map[string]string{
		"hits":          `{"action_name":"v","query_response_hit_ids":[` + strings.Repeat("1,", size/2) + `1]}`,
		"drawn":         `{"action_name":"v","query_attributes":{"plrank":{"drawn":[` + strings.Repeat("1,", size/2) + `1]}}}`,
		"names":         `{"action_name":"v"` + strings.Repeat(`,"a":1`, size/6) + `}`,
		"escaped names": `{"action_name":"v"` + strings.Repeat(`,"\n":1`, size/7) + `}`,
		"clicks": "[" + strings.Repeat(`{"action_name":"click","query_id":"q","event_attributes":{"object":{"object_id":"a"}}},`, size/87) +
			`{"action_name":"v"}]`,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				took := cputime.Shortest(20*time.Millisecond, func() {
					if _, _, err := appendEvents(nil, []byte(body), size); err != nil {
						b.Fatal(err)
					}
				})
				b.ReportMetric(eventTime*float64(len(body))/float64(took), "price/cost")
			}
		})
	}
}

// occupy fills the cores with large work.
func occupy(s *Service) (leave func()) {
	leave, err := s.gate.enter(context.Background(), math.Inf(1), s.gate.cores)
	if err != nil {
		panic(err)
	}
	return leave
}

// Events are computed among large requests, and refused beyond the limit of work, as others are.
func TestEventsHaveAPrice(t *testing.T) {
	s, _ := logging(t)
	event := `{"action_name": "view", "message": "` + strings.Repeat("x", coreWork/eventTime) + `"}`
	s.limits.Timeout = 50 * time.Millisecond
	leave := occupy(s)
	if w := send(s, "/v1/events", event); w.Code != 503 {
		t.Errorf("large events during other large requests: %d, %.100s", w.Code, w.Body)
	}
	leave()
	s.limits.Work = coreWork / unit
	w := send(s, "/v1/events", event)
	want := fmt.Sprintf("with its events the request takes %.0f units of work, at most 100000", eventTime/unit*float64(len(event)))
	if w.Code != 400 || !strings.Contains(w.Body.String(), want) {
		t.Errorf("%d, %.300s", w.Code, w.Body)
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
	text, err := io.ReadAll(resp.Body)
	if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" || !strings.Contains(string(text), "no answer within 300ms") {
		t.Errorf("%d, %.200s, %v", resp.StatusCode, text, err)
	}
}

// idle reports whether nothing is computed.
func idle(s *Service) bool {
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	return s.gate.room == 2*s.gate.half
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
		testkit.Await(t, "the work begins", func() bool { return !idle(s) })
		hangUp()
	}()
	if resp, err := http.DefaultClient.Do(r); err == nil {
		t.Fatal("answered with status ", resp.StatusCode)
	}
	testkit.Await(t, "the work ends", func() bool { return idle(s) })
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
	leave := occupy(s)
	if w := post(s, large); w.Code != 503 {
		t.Errorf("a large request during others: %d, %.100s", w.Code, w.Body)
	}
	s.limits.Timeout = 10 * time.Minute
	if w := post(s, testkit.DrawRequest(10, 10)); w.Code != 200 {
		t.Errorf("a small request during them: %d, %.100s", w.Code, w.Body)
	}
	answered := make(chan int)
	go func() { answered <- post(s, large).Code }()
	leave()
	if code := <-answered; code != 200 {
		t.Errorf("a large request after them: %d", code)
	}
}

// Small work enters while large work is computed and more of it waits, until small work itself takes all the room. What has
// left, or has given up, leaves the whole room.
func TestGateLeavesRoomForSmallWork(t *testing.T) {
	g := newGate()
	enter := func(price float64) (leave func(), err error) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		return g.enter(ctx, price, 1)
	}
	var leave []func()
	for range g.cores {
		l, err := enter(3 * coreWork)
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, l)
	}
	waits := make(chan error)
	go func() {
		l, err := g.enter(t.Context(), 3*coreWork, g.cores)
		if err == nil {
			l()
		}
		waits <- err
	}()
	if _, err := enter(coreWork + 1); err != context.DeadlineExceeded {
		t.Errorf("large work enters beyond the cores: %v", err)
	}
	for range 2 * g.cores {
		l, err := enter(coreWork / 2)
		if err != nil {
			t.Fatal("small work waits for large work: ", err)
		}
		leave = append(leave, l)
	}
	if _, err := enter(1); err != context.DeadlineExceeded {
		t.Errorf("small work enters without room: %v", err)
	}
	for _, l := range leave {
		l()
	}
	if err := <-waits; err != nil || g.room != 2*g.half {
		t.Errorf("waiting for all cores: %v, then the room is %v of %v", err, g.room, 2*g.half)
	}
}

// The memory of large bodies is limited; small ones have their own.
func TestMemoryOfLargeBodiesIsLimited(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	s, _ := tested(t, Options{Models: only(path), Limits: Limits{Body: 1 << 20}})
	room := int64(bodiesPerCore*runtime.GOMAXPROCS(0)) << 20
	if !s.bodies.TryAcquire(room) || s.bodies.TryAcquire(1) {
		t.Fatalf("the memory is not %d bytes", room)
	}
	const small = `{"documents": []}`
	largest := small + strings.Repeat(" ", 1<<20-len(small))
	send := func(body io.Reader) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("POST", "/v1/rank", body))
		return w
	}
	// The length of the second is not known.
	for _, body := range []io.Reader{strings.NewReader(largest), io.MultiReader(strings.NewReader(largest))} {
		if w := send(body); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "the memory for large bodies") {
			t.Errorf("a large body among others: %d, %.200s", w.Code, w.Body)
		}
	}
	if w := send(strings.NewReader(largest[:smallBody])); w.Code != http.StatusOK {
		t.Errorf("a small body among them: %d, %.100s", w.Code, w.Body)
	}
	s.bodies.Release(1 << 20)
	for range 3 {
		for _, body := range []io.Reader{strings.NewReader(largest), io.MultiReader(strings.NewReader(largest))} {
			if w := send(body); w.Code != http.StatusOK {
				t.Errorf("a large body with room for it: %d, %.100s", w.Code, w.Body)
			}
		}
		if w := send(strings.NewReader(largest + " ")); w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("a body that is too large: %d, %.100s", w.Code, w.Body)
		}
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
