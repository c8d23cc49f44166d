package cli

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// The garbage next to a heap: 40 % while it is small, then 64 MB, and 4 % of what is larger still.
func TestGarbageIsLimited(t *testing.T) {
	for _, c := range []struct {
		heap uint64
		want int
	}{{0, 40}, {10 << 20, 40}, {160 << 20, 40}, {320 << 20, 20}, {1 << 30, 6}, {2 << 30, 4}, {100 << 30, 4}} {
		if got := garbagePercent(c.heap); got != c.want {
			t.Errorf("%d %% of %d MB, want %d %%", got, c.heap>>20, c.want)
		}
	}
}

func TestJSONIsIndented(t *testing.T) {
	var b strings.Builder
	if err := PrintJSON(&b, map[string]int{"queries": 3}); err != nil || b.String() != "{\n  \"queries\": 3\n}\n" {
		t.Errorf("%v, %q", err, &b)
	}
}

// An end of the context is not kept waiting by work that takes for ever.
func TestAwaitEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if v, err := Await(ctx, func() (int, error) { select {} }); v != 0 || err != context.Canceled {
		t.Errorf("%d, %v", v, err)
	}
	failed := errors.New("failed")
	if v, err := Await(t.Context(), func() (int, error) { return 3, failed }); v != 3 || err != failed {
		t.Errorf("%d, %v", v, err)
	}
}
