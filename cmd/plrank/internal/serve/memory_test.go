package serve

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/plrank/plrank/internal/testkit"
)

func TestIdleServiceGivesMemoryBack(t *testing.T) {
	collections := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumForcedGC
	}
	h := freeingMemory(http.NotFoundHandler(), 100*time.Millisecond)
	before := collections()
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/rank", nil))
	testkit.Await(t, "memory is given back", func() bool {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/readyz", nil)) // does not put it off
		return collections() > before+1
	})
}
