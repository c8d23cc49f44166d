package command

import "testing"

// The garbage beside a heap: 40 % while it is small, then 64 MB, and 4 % of what is larger still.
func TestGarbageBeside(t *testing.T) {
	for _, c := range []struct {
		heap uint64
		want int
	}{{0, 40}, {10 << 20, 40}, {160 << 20, 40}, {320 << 20, 20}, {1 << 30, 6}, {2 << 30, 4}, {100 << 30, 4}} {
		if got := garbageBeside(c.heap); got != c.want {
			t.Errorf("%d %% of %d MB, want %d %%", got, c.heap>>20, c.want)
		}
	}
}
