package serve

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/plrank/plrank/internal/testkit"
)

// asCommand is the environment variable of a child that runs the command instead of the tests.
const asCommand = "PLRANK_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// A child is the command in another process.
type child struct {
	*exec.Cmd
	url    string
	probes string // the URL of -probes
	log    *bufio.Scanner
}

func newChild(t *testing.T, args ...string) *child {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	c := &child{Cmd: exec.Command(os.Args[0], append([]string{"-model", path, "-listen", "localhost:0"}, args...)...)}
	c.Env = append(os.Environ(), asCommand+"=1")
	out, err := c.StderrPipe()
	// A process begins with the default handling of signals that its parent handles. Without it those that
	// are ignored stay so: a shell's background jobs ignore SIGINT.
	handled := make(chan os.Signal, 1)
	signal.Notify(handled, os.Interrupt, syscall.SIGHUP, syscall.SIGTERM)
	if err == nil {
		err = c.Start()
	}
	signal.Stop(handled)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	c.log = bufio.NewScanner(out)
	if slices.Contains(args, "-probes") {
		_, c.probes, _ = strings.Cut(c.logs(t, "answering probes"), "url=")
	}
	_, c.url, _ = strings.Cut(c.logs(t, "msg=listening"), "url=")
	return c
}

// logs waits until a line of the log has the text.
func (c *child) logs(t *testing.T, text string) string {
	t.Helper()
	for c.log.Scan() {
		if strings.Contains(c.log.Text(), text) {
			return c.log.Text()
		}
	}
	t.Fatalf("the command never said %q", text)
	return ""
}

func (c *child) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := c.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

func status(t *testing.T, url string) int {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// On SIGTERM and SIGINT the service is not ready at once, but still answers, on connections that
// close, and still reloads models on SIGHUP. A second signal ends it at once.
func TestFirstSignalDrainsAndSecondEnds(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		c := newChild(t, "-drain", "10m", "-poll", "0")
		for path, want := range map[string]int{"/livez": 200, "/readyz": 200, "/healthz": 200} {
			if got := status(t, c.url+path); got != want {
				t.Errorf("before %v: %s: %d, want %d", s, path, got, want)
			}
		}
		c.signal(t, s)
		c.logs(t, "draining")
		for path, want := range map[string]int{"/livez": 200, "/readyz": 503, "/healthz": 503} {
			if got := status(t, c.url+path); got != want {
				t.Errorf("after %v: %s: %d, want %d", s, path, got, want)
			}
		}
		c.signal(t, syscall.SIGHUP)
		c.logs(t, `msg="read model" model=default`)
		resp, err := http.Post(c.url+"/v1/rank", "application/json", strings.NewReader(`{"documents": [[1, 1, 1]]}`))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 || !resp.Close || !strings.Contains(string(text), `"scores":[6]`) {
			t.Errorf("after %v: %d, %s, %v, the connection ends: %v", s, resp.StatusCode, text, err, resp.Close)
		}
		resp.Body.Close()
		c.signal(t, s)
		var exit *exec.ExitError
		if err := c.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != s {
			t.Errorf("after the second %v: %v", s, err)
		}
	}
}

// With -probes, probes have a port of their own, which answers nothing else. It answers when the connections of clients
// are used up, and as long as requests are in flight.
func TestProbesHaveTheirOwnPort(t *testing.T) {
	c := newChild(t, "-probes", "localhost:0", "-connections", "1", "-drain", "0s")
	conn, answer := testkit.InFlight(t, c.url, 26)
	check := func(ready int) {
		t.Helper()
		for path, want := range map[string]int{"/livez": 200, "/readyz": ready, "/healthz": ready, "/metrics": 200, "/v1/models": 404, "/v1/rank": 404} {
			if got := status(t, c.probes+path); got != want {
				t.Errorf("%s: %d, want %d", path, got, want)
			}
		}
	}
	check(200)
	c.signal(t, syscall.SIGTERM)
	c.logs(t, "no more connections are accepted")
	check(503)
	io.WriteString(conn, `{"documents": [[1, 1, 1]]}`)
	if text, err := io.ReadAll(answer); err != nil || !strings.Contains(string(text), `"scores":[6]`) {
		t.Errorf("%s, %v", text, err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// Clients behind a load balancer, which sends no requests to a service that is not ready, lose no
// answer, and neither does a request in flight.
func TestDrainLosesNoAnswer(t *testing.T) {
	c := newChild(t, "-drain", "500ms")
	var ready atomic.Bool
	ready.Store(true)
	var group sync.WaitGroup
	group.Go(func() { // the load balancer
		for status(t, c.url+"/readyz") == 200 {
			time.Sleep(20 * time.Millisecond)
		}
		ready.Store(false)
	})
	var answered atomic.Int64
	for i := range 8 {
		// Half of them keep their connections.
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: i%2 == 0}}
		group.Go(func() {
			for ready.Load() {
				resp, err := client.Post(c.url+"/v1/rank", "application/json", strings.NewReader(testkit.DrawRequest(50, 10)))
				if err != nil {
					t.Error("an answer is lost: ", err)
					return
				}
				text, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != 200 || !strings.HasSuffix(string(text), "}") {
					t.Errorf("an answer is lost: %d, %.100s, %v", resp.StatusCode, text, err)
					return
				}
				answered.Add(1)
			}
		})
	}
	testkit.Await(t, "a hundred answers", func() bool { return answered.Load() > 100 })
	conn, answer := testkit.InFlight(t, c.url, 26)
	c.signal(t, syscall.SIGTERM)
	group.Wait()
	c.logs(t, "requests in flight are answered")
	io.WriteString(conn, `{"documents": [[1, 1, 1]]}`)
	if text, err := io.ReadAll(answer); err != nil || !strings.Contains(string(text), `"scores":[6]`) {
		t.Errorf("%s, %v", text, err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// Beyond the limit, connections wait until another one closes.
func TestConnectionsBeyondTheLimitWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	url, stop := started(t, "-model", path, "-connections", "2")
	defer stop()
	get := func() (net.Conn, *bufio.Reader) {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		fmt.Fprint(conn, "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n")
		return conn, bufio.NewReader(conn)
	}
	status := func(answer *bufio.Reader) int {
		r, err := http.ReadResponse(answer, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode
	}
	first, one := get()
	_, two := get()
	if code1, code2 := status(one), status(two); code1 != 200 || code2 != 200 {
		t.Errorf("two connections: %d, %d", code1, code2)
	}
	third, three := get()
	third.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
	if _, err := three.Peek(1); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a third connection is not kept waiting: %v", err)
	}
	third.SetReadDeadline(time.Time{})
	first.Close()
	if code := status(three); code != 200 {
		t.Errorf("a third connection after the first: %d", code)
	}
}
