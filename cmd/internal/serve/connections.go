package serve

import (
	"net"
	"net/http"
	"sync/atomic"

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
