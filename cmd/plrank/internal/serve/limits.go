package serve

import (
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"
)

// A queue accepts connections while there is room: each takes memory before it has sent anything, and more for its headers.
// Further ones wait in the queue of the system.
type queue struct {
	net.Listener
	open chan struct{} // has an entry for each
}

func (q queue) Accept() (net.Conn, error) {
	q.open <- struct{}{}
	conn, err := q.Listener.Accept()
	if err != nil {
		<-q.open
	}
	return conn, err
}

// end is [http.Server.ConnState].
func (q queue) end(_ net.Conn, state http.ConnState) {
	if state == http.StateClosed || state == http.StateHijacked {
		<-q.open
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
