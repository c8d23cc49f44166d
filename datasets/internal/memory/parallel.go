package memory

import (
	"github.com/plrank/plrank/internal/mapped"
	"github.com/plrank/plrank/internal/parallel"
)

// For calls f(0) … f(n-1) on all cores, and lets mapped files go that f has read a lot of.
// Each call may write only what belongs to its own index, so results do not depend on the
// number of cores.
func For(n int, f func(i int)) {
	parallel.For(n, parallel.Workers(n), func(_, i int) {
		f(i)
		mapped.Relieve()
	})
}
