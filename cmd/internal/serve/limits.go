package serve

import (
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// limitConnections closes connections beyond so many at once, and counts them: a connection
// takes memory before it has sent anything, and more for its headers.
func limitConnections(most int, registry *prometheus.Registry) func(net.Conn, http.ConnState) {
	refused := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "plrank_connections_refused_total", Help: "Connections closed at once, because there were too many."})
	registry.MustRegister(refused)
	var open atomic.Int64
	return func(c net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			if open.Add(1) > int64(most) {
				refused.Inc()
				c.Close()
			}
		case http.StateClosed, http.StateHijacked:
			open.Add(-1)
		}
	}
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
