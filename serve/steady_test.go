package serve

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/parallel"
	"github.com/plrank/plrank/internal/testkit"
)

// Memory does not grow over requests of 1 to 2000 documents, short ones more often, some with a
// draw, some refused, while the model is read again now and then.
func TestMemoryDoesNotGrowWithRequests(t *testing.T) {
	const most = 2000
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	s, _ := tested(t, Options{Models: only(path)})
	s.log = slog.New(slog.DiscardHandler)
	documents := strings.Repeat("[1,-1,3],", most)
	testkit.Steady(t, 1000, func(from, to int) {
		if err := parallel.Each(to-from, runtime.GOMAXPROCS(0), func(_, i int) error {
			i += from
			rows := int(math.Pow(most, rand.New(rand.NewPCG(uint64(i), 0)).Float64()))
			body := `{"documents":[` + documents[:rows*len("[1,-1,3],")-1] + "]"
			want := 200
			switch i % 10 {
			case 0:
				body += fmt.Sprintf(`,"draw":{"cutoff":10,"seed":%d}`, i)
			case 1:
				body, want = body[:len(body)-3], 400
			case 2:
				if i%10000 == 2 {
					s.refresh(true)
				}
			}
			w := post(s, body+"}")
			var out response
			if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != want || want == 200 && len(out.Scores) != rows {
				return fmt.Errorf("%d documents: status %d, want %d, %d scores, %v", rows, w.Code, want, len(out.Scores), err)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
}
