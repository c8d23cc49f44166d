package datasets

import (
	"github.com/plrank/plrank/internal/mapped"
	par "github.com/plrank/plrank/internal/parallel"
)

// parallel calls f(0) … f(n-1) on all cores. Each call may write only what
// belongs to its own index, so results do not depend on the number of cores.
func parallel(n int, f func(i int)) {
	par.For(n, par.Workers(n), func(_, i int) {
		f(i)
		mapped.Relieve() // f may have read a lot of a file
	})
}
