package testkit

import (
	"fmt"
	"sync"

	"github.com/plrank/plrank/internal/mpi"
)

// inProcess is a group of ranks that are goroutines.
type inProcess struct {
	size  int
	mu    sync.Mutex
	all   *sync.Cond
	here  int    // ranks that have come to the call at hand
	round int    // calls that are over
	calls []call // of the ranks
}

type call struct {
	what     string
	dst, src []byte
}

type rankOf struct {
	*inProcess
	rank int
}

func (r rankOf) Rank() int { return r.rank }
func (r rankOf) Size() int { return r.size }

func (r rankOf) Broadcast(b []byte)        { r.call(call{"broadcast", b, b}) }
func (r rankOf) Allgather(dst, src []byte) { r.call(call{"all-gather", dst, src}) }
func (r rankOf) Alltoall(dst, src []byte)  { r.call(call{"all-to-all", dst, src}) }

// call waits for all ranks; the last one does what they came for.
func (r rankOf) call(c call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[r.rank] = c
	round := r.round
	if r.here++; r.here < r.size {
		for round == r.round {
			r.all.Wait()
		}
		return
	}
	r.here = 0
	r.round++
	defer r.all.Broadcast()
	for i, call := range r.calls {
		if call.what != c.what || len(call.src) != len(c.src) || len(call.dst) != len(c.dst) {
			panic(fmt.Sprintf("rank %d calls %s of %d bytes, rank %d %s of %d", i, call.what, len(call.src), r.rank, c.what, len(c.src)))
		}
		part := len(c.src) / r.size
		switch c.what {
		case "broadcast":
			copy(call.dst, r.calls[0].src)
		case "all-gather":
			for j, from := range r.calls {
				copy(call.dst[j*len(from.src):], from.src)
			}
		case "all-to-all":
			for j, from := range r.calls {
				copy(call.dst[j*part:(j+1)*part], from.src[i*part:])
			}
		}
	}
}

// OnRanks calls f as every rank, at the same time, and returns the errors.
func OnRanks(size int, f func(g mpi.Group) error) []error {
	g := &inProcess{size: size, calls: make([]call, size)}
	g.all = sync.NewCond(&g.mu)
	errs := make([]error, size)
	var wait sync.WaitGroup
	for rank := range size {
		wait.Go(func() { errs[rank] = f(rankOf{g, rank}) })
	}
	wait.Wait()
	return errs
}
