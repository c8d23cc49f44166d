package serve

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Beyond the limit of connections some more are for probes. Each has one answer, at once, and the oldest makes room for
// the newest. So no number of idle connections can make a probe fail, which would restart the process.
const (
	mostProbes = 64
	probeTime  = time.Second // to send the request, and to get its answer
)

// connections limits the open connections: each takes memory before it has sent anything, and more for its headers.
type connections struct {
	most    int // for all requests
	refused prometheus.Counter

	mu     sync.Mutex
	open   map[net.Conn]bool // for all requests
	probes []probe           // the oldest first
}

// A probe is a connection beyond the limit. It is closed after probeTime.
type probe struct {
	net.Conn
	late *time.Timer
}

func newConnections(most int, registry *prometheus.Registry) *connections {
	c := &connections{most: most, open: map[net.Conn]bool{}, refused: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "plrank_connections_refused_total",
		Help: "Connections beyond the limit, which are answered if they ask for /livez or /readyz alone.",
	})}
	registry.MustRegister(c.refused)
	return c
}

// probesAlone is the key in contexts of connections for probes.
type probesAlone struct{}

// begin is [http.Server.ConnContext].
func (c *connections) begin(ctx context.Context, conn net.Conn) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) < c.most {
		c.open[conn] = true
		return ctx
	}
	c.refused.Inc()
	if len(c.probes) == mostProbes {
		c.probes[0].late.Stop()
		c.probes[0].Close()
		c.probes = slices.Delete(c.probes, 0, 1)
	}
	c.probes = append(c.probes, probe{conn, time.AfterFunc(probeTime, func() { conn.Close() })})
	return context.WithValue(ctx, probesAlone{}, true)
}

// end is [http.Server.ConnState].
func (c *connections) end(conn net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, conn)
	if i := slices.IndexFunc(c.probes, func(p probe) bool { return p.Conn == conn }); i >= 0 {
		c.probes[i].late.Stop()
		c.probes = slices.Delete(c.probes, i, i+1)
	}
}

// limiting refuses requests other than probes on connections that are for probes.
func limiting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Value(probesAlone{}) != nil {
			w.Header().Set("Connection", "close")
			switch r.URL.Path {
			case "/livez", "/readyz", "/healthz":
			default:
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusServiceUnavailable)
				fmt.Fprintln(w, `{"error":"too many connections"}`)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// freeingMemory gives free memory back to the system when the service has been idle for some
// time. Probes and metrics do not count: they never pause for long.
func freeingMemory(next http.Handler, idleTime time.Duration) http.Handler {
	idle := time.AfterFunc(idleTime, func() {
		runtime.GC() // what pools hold is free after a second collection, which FreeOSMemory makes
		debug.FreeOSMemory()
	})
	idle.Stop()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			defer idle.Reset(idleTime)
		}
		next.ServeHTTP(w, r)
	})
}
