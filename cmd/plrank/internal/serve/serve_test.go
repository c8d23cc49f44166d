package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/plrank/plrank/internal/testkit"
)

// started runs the command, and gives its address and a function that ends it.
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

func TestCommandLineErrorsAndHelp(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "token")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"-model is needed":                           {},
		"two models are called":                      {"-model", "a=x", "-model", "a=y"},
		"want NAME=FILE, or FILE":                    {"-model", "=x"},
		"no such file":                               {"-model", filepath.Join(dir, "none")},
		"-max-body 0: want 1 to 1073741824":          {"-model", "x", "-max-body", "0"},
		"-drain -1s: want a time from 0s to 24h0m0s": {"-model", "x", "-drain", "-1s"},
		"no token in the file":                       {"-model", "x", "-token-file", empty},
		`invalid origin "shop.example`:               {"-model", "x", "-origin", "shop.example"},
		"want a name, without a scheme and a port":   {"-model", "x", "-host", "https://shop.example"},
		"-listen: address nowhere: missing port":     {"-model", "x", "-listen", "nowhere"},
		`is named "\xff": want a name`:               {"-model", "\xff=x"},
		"there is no flag -modell":                   {"-modell", "x"},
		"over HTTP, by POST /v1/rank.":               {"-help"},
	} {
		var text bytes.Buffer
		run(t.Context(), args, &text, &text, func(net.Addr) {})
		if !strings.Contains(text.String(), want) {
			t.Errorf("%v: %s, want %s", args, &text, want)
		}
	}
}

// Whoever can reach a service without a token can use it: that is a warning, and no error.
func TestListeningBeyondLoopbackWithoutATokenIsAWarning(t *testing.T) {
	dir := t.TempDir()
	path, token := filepath.Join(dir, "m.npz"), filepath.Join(dir, "token")
	testkit.LinearModel(t, path, 1, 2, 3)
	if err := os.WriteFile(token, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		listen, token string
		warns         bool
	}{
		{":0", "", true}, {"0.0.0.0:0", "", true}, {":0", token, false}, {"localhost:0", "", false}, {"127.0.0.1:0", "", false}, {"127.0.0.2:0", "", false},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var text bytes.Buffer
		args := []string{"-model", path, "-drain", "0s", "-listen", c.listen}
		if c.token != "" {
			args = append(args, "-token-file", c.token)
		}
		if status := run(ctx, args, io.Discard, &text, func(net.Addr) { cancel() }); status != 0 {
			t.Errorf("%+v: status %d", c, status)
		}
		if got := strings.Contains(text.String(), "level=WARN") && strings.Contains(text.String(), "use -token-file"); got != c.warns {
			t.Errorf("%+v: %s", c, &text)
		}
	}
}

// On localhost without a token, a page whose name stands for this machine is refused: DNS rebinding.
func TestLocalServiceWithoutATokenTakesKnownHosts(t *testing.T) {
	dir := t.TempDir()
	path, token := filepath.Join(dir, "m.npz"), filepath.Join(dir, "token")
	testkit.LinearModel(t, path, 1, 2, 3)
	if err := os.WriteFile(token, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args        []string
		other, mine int // status for evil.example and for search.example
	}{
		{nil, 403, 403},
		{[]string{"-listen", "127.0.0.2:0"}, 403, 403},
		{[]string{"-host", "search.example"}, 403, 200},
		{[]string{"-token-file", token}, 200, 200},
		{[]string{"-listen", ":0"}, 200, 200},
		{[]string{"-listen", ":0", "-host", "search.example"}, 403, 200},
	} {
		url, stop := started(t, append([]string{"-model", path, "-drain", "0s"}, c.args...)...)
		port := url[strings.LastIndex(url, ":")+1:]
		for host, want := range map[string]int{
			"localhost": 200, "localhost:" + port: 200, "127.0.0.1:" + port: 200, "evil.example:" + port: c.other, "search.example": c.mine,
		} {
			r, err := http.NewRequest("GET", url+"/v1/models", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			r.Header.Set("Authorization", "Bearer secret")
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			if resp.Body.Close(); resp.StatusCode != want {
				t.Errorf("%q, host %s: %d, want %d", c.args, host, resp.StatusCode, want)
			}
		}
		if status := stop(); status != 0 {
			t.Errorf("%q: status %d", c.args, status)
		}
	}
}

// SIGHUP reloads all models, even where their files have not changed, with requests in flight.
func TestHangupReloadsModels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
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
	testkit.LinearModel(t, path, 10, 20, 30)
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

// While good and bad models are reloaded, every request gets the scores of one model; when the
// service ends, requests in flight are answered.
func TestReloadUnderLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
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
				var out struct{ Scores []float64 }
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
			testkit.LinearModel(t, path, 10, 20, 30)
		case 1:
			if err := os.WriteFile(path, []byte("no model"), 0o644); err != nil {
				t.Error(err)
			}
		case 2:
			testkit.LinearModel(t, path, 1, 2, 3)
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

func TestShutdownAnswersRequestsInFlight(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	url, stop := started(t, "-model", path)
	const body = `{"documents": [[1, 1, 1]]}`
	conn, answer := testkit.InFlight(t, url, len(body))
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

// A client that sends one request after another on its connection loses none of them: the last
// answer says that the connection closes.
func TestShutdownClosesKeptConnectionsAfterAnswers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
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
				fmt.Fprintf(conn, "POST /v1/rank HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
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
