package serve

import (
	"net/http"
	"runtime"
	"runtime/debug"
	"time"
)

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
