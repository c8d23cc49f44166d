package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/plrank/plrank/clicks"
)

// ask sends a request to the pages, with headers by pairs of name and value.
func ask(l *Loop, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "localhost:8080"
	r.Header.Set("Content-Type", form)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	w := httptest.NewRecorder()
	l.http.Handler.ServeHTTP(w, r)
	return w
}

// Only the shop's own pages, and programs, can write to the log. A link from elsewhere shows the page, and logs nothing.
func TestOtherWebsitesWriteNothing(t *testing.T) {
	l := startLoop(t, t.TempDir())
	const event = `[{"action_name": "click", "query_id": "q", "event_attributes": {"object": {"object_id": "p0001"}}}]`
	for _, c := range []struct {
		method, path, body string
		headers            []string
		status, logged     int
	}{
		{"GET", "/?q=tent", "", nil, 200, 0},
		{"GET", "/?q=tent", "", []string{"Sec-Fetch-Site", "cross-site"}, 200, 0},
		{"GET", "/search?q=tent", "", nil, 405, 0},
		{"HEAD", "/?q=tent", "", nil, 200, 0},
		{"POST", "/", "q=tent", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, 403, 0},
		{"POST", "/search", "q=tent", []string{"Sec-Fetch-Site", "same-site", "Origin", "http://localhost:1"}, 403, 0},
		{"POST", "/search", "q=tent", []string{"Origin", "https://evil.example"}, 403, 0},
		{"POST", "/events", event, []string{"Origin", "null", "Sec-Fetch-Site", "cross-site"}, 403, 0},
		{"POST", "/search", "q=tent", []string{"Host", "evil.example", "Origin", "http://evil.example", "Sec-Fetch-Site", "same-origin"}, 403, 0},
		{"GET", "/?q=tent", "", []string{"Host", "127.0.0.1.evil.example"}, 403, 0},
		{"POST", "/", "q=tent", []string{"Origin", "http://localhost:8080", "Sec-Fetch-Site", "same-origin"}, 200, 1},
		{"POST", "/search", "q=tent", nil, 200, 1},
		{"POST", "/search", "q=tent", []string{"Host", "[::1]:8080"}, 200, 1},
		{"POST", "/events", event, nil, 204, 0},
	} {
		before := l.logged.Load()
		w := ask(l, c.method, c.path, c.body, c.headers...)
		if w.Code != c.status || int(l.logged.Load()-before) != c.logged {
			t.Errorf("%s %s, %q: %d, %d logged, %.100s", c.method, c.path, c.headers, w.Code, l.logged.Load()-before, w.Body)
		}
		if policy := w.Header().Get("Content-Security-Policy"); w.Code == 200 && !strings.Contains(policy, "default-src 'none'") {
			t.Errorf("%s %s: policy %q", c.method, c.path, policy)
		}
	}
}

// What a request may ask for is bounded: time to search, and room in the log.
func TestLongRequestsAreRefused(t *testing.T) {
	l := startLoop(t, t.TempDir())
	long := strings.Repeat("x", mostText+1)
	for body, status := range map[string]int{
		"q=" + strings.Repeat("a+", mostWords) + "b":                       400,
		"q=" + strings.TrimSuffix(strings.Repeat("tent+", mostWords), "+"): 200,
		"q=" + long:               400,
		"q=tent&client=" + long:   400,
		"q=tent&brand=" + long:    400,
		"q=tent&category=" + long: 400,
		"q=tent&segment=rich":     400,
		"q=%ff":                   400,
		"q=tent&client=%c3%28":    400,
		"q=%zz":                   400,
		"q=tent&x=" + strings.Repeat("y", mostBody): 413,
		"q=tent%7Chasty%7C%7C":                      200,
	} {
		if w := ask(l, "POST", "/search", body); w.Code != status {
			t.Errorf("%.40s… of %d bytes: %d, %.100s", body, len(body), w.Code, w.Body)
		}
	}
	if w := ask(l, "GET", "/?"+url.Values{"q": {strings.Repeat("tent ", 1000)}}.Encode(), ""); w.Code != 400 {
		t.Errorf("a long query of the page: %d", w.Code)
	}
	if w := ask(l, "POST", "/events", "["+strings.Repeat(" ", mostBody)+"]"); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("large events: %d", w.Code)
	}
	log, err := clicks.Read(filepath.Join(l.folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range log.Impressions {
		if key := log.Impressions[i].Query; strings.Count(key, "|") != 3 {
			t.Errorf("key %q: a query has become a part of it", key)
		}
	}
}

// Clients that send nothing lose their connections.
func TestServerHasTimeouts(t *testing.T) {
	s := newServer(http.NotFoundHandler())
	if s.ReadHeaderTimeout <= 0 || s.ReadTimeout <= 0 || s.WriteTimeout <= 0 || s.IdleTimeout <= 0 || s.MaxHeaderBytes > 1<<16 {
		t.Errorf("%+v", s)
	}
	s.ReadHeaderTimeout = 20 * time.Millisecond
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(listener)
	defer s.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
	if text, err := io.ReadAll(bufio.NewReader(conn)); err != nil || len(text) > 0 && !strings.Contains(string(text), "408") {
		t.Errorf("%q, %v", text, err)
	}
}

// A disk that is full at night leaves no record, and the next start does the night again.
func TestFullDiskAtNight(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	l := startLoop(t, t.TempDir())
	part := l.record(1) + ".part"
	if err := os.Symlink("/dev/full", part); err != nil {
		t.Fatal(err)
	}
	if err := l.end(Record{Day: 1}); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("a full disk: error %v", err)
	}
	for _, path := range []string{part, l.record(1)} {
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
	if l.day.Load() != 1 || len(*l.records.Load()) != 0 {
		t.Errorf("day %d, %d records, after a night that was not written", l.day.Load(), len(*l.records.Load()))
	}
	if err := l.end(Record{Day: 1}); err != nil || l.day.Load() != 2 {
		t.Errorf("with room again: %v", err)
	}
	// What older versions left.
	if err := os.WriteFile(l.record(2), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := l.resume(); err != nil || l.day.Load() != 2 {
		t.Errorf("an empty record of the last night: day %d, %v", l.day.Load(), err)
	}
	if err := os.WriteFile(l.record(1), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := l.resume(); err == nil || !strings.Contains(err.Error(), l.record(1)) {
		t.Errorf("a damaged record of an earlier night: %v", err)
	}
}

// A log that says too little to learn from ends a day, and not the program.
func TestQuietDaysPass(t *testing.T) {
	l, err := start(options{listen: "localhost:0", folder: t.TempDir(), day: 1, products: 50, queries: 1, share: 1})
	if err != nil {
		t.Fatal(err)
	}
	l.length = 1
	if err := l.run(t.Context(), 2); err != nil || len(*l.records.Load()) != 2 {
		t.Errorf("%d days, %v", len(*l.records.Load()), err)
	}
	if w := ask(l, "GET", "/days", ""); w.Code != 200 {
		t.Errorf("the days: %d, %s", w.Code, w.Body)
	}
	if w := ask(l, "GET", "/", ""); w.Code != 200 {
		t.Errorf("the page of one query: %d, %s", w.Code, w.Body)
	}
}

func TestOptionsOutOfRangeAreRefused(t *testing.T) {
	good := options{listen: "localhost:0", day: 1, products: 1, queries: 1, share: 1}
	if err := good.check(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*options){
		"-days -1": func(o *options) { o.days = -1 }, "-day 0": func(o *options) { o.day = 0 },
		"-products 0": func(o *options) { o.products = 0 },
		"-queries 0":  func(o *options) { o.queries = 0 }, "-queries 4001": func(o *options) { o.queries = 4001 },
		"-share 0": func(o *options) { o.share = 0 }, "-share 1.5": func(o *options) { o.share = 1.5 },
	} {
		o := good
		change(&o)
		if _, err := start(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if s := newShop(1, mostQueries, 1); len(s.Queries) != mostQueries {
		t.Error(len(s.Queries))
	}
}

// Days have whole numbers on the axis of the curve.
func TestCurveHasWholeDays(t *testing.T) {
	for n := 1; n <= 7; n++ {
		var records []Record
		for day := range n {
			records = append(records, Record{Day: int64(day + 1), ByScore: 1, Drawn: 1.2, BM25: .9, Best: 2})
		}
		_, axis, _ := strings.Cut(curve(records).SVG(), ">day<")
		axis, _, _ = strings.Cut(axis, ">true clicks a search<")
		labels := regexp.MustCompile(`>([^<>]+)</text>`).FindAllStringSubmatch(axis, -1)
		for _, label := range labels {
			if strings.Contains(label[1], ".") {
				t.Errorf("%d days: label %s", n, label[1])
			}
		}
		if len(labels) == 0 {
			t.Errorf("%d days: no labels", n)
		}
	}
}
