//go:build mpi

package mpi

/*
#cgo pkg-config: ompi
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

static MPI_Comm heartbeats;

// start joins the ranks, and reports whether several threads may communicate.
static int start(int *rank, int *size) {
	int level;
	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS)
		return 0;
	MPI_Comm_rank(MPI_COMM_WORLD, rank);
	MPI_Comm_size(MPI_COMM_WORLD, size);
	MPI_Comm_dup(MPI_COMM_WORLD, &heartbeats);
	return level == MPI_THREAD_MULTIPLE;
}

// finish waits for the end of a collective call. Others may be a long time away, or wait
// for this core: soon it lets them have it, and after some milliseconds it sleeps.
static void finish(MPI_Request request) {
	for (int tries = 0, done = 0;; tries++) {
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
		if (done)
			return;
		if (tries > 10000) {
			struct timespec pause = {0, 50000};
			nanosleep(&pause, NULL);
		} else if (tries > 100)
			sched_yield();
	}
}

enum { BROADCAST, ALLGATHER, ALLTOALL, BARRIER };

// collective makes a collective call, of n bytes of each rank.
static void collective(int kind, void *dst, void *src, int n) {
	MPI_Request r;
	switch (kind) {
	case BROADCAST: MPI_Ibcast(dst, n, MPI_BYTE, 0, MPI_COMM_WORLD, &r); break;
	case ALLGATHER: MPI_Iallgather(src, n, MPI_BYTE, dst, n, MPI_BYTE, MPI_COMM_WORLD, &r); break;
	case ALLTOALL: MPI_Ialltoall(src, n, MPI_BYTE, dst, n, MPI_BYTE, MPI_COMM_WORLD, &r); break;
	case BARRIER: MPI_Ibarrier(MPI_COMM_WORLD, &r); break;
	}
	finish(r);
}

// beat tells the next rank how far this one has come, its calls and its work, and puts into
// theirs how far the one before has. It reports whether that has said anything since the
// last time.
static int beat(int next, int before, long long *mine, long long *theirs) {
	static MPI_Request sending = MPI_REQUEST_NULL;
	static long long said[2];
	int heard = 0, there;
	MPI_Test(&sending, &there, MPI_STATUS_IGNORE);
	if (there) {
		said[0] = mine[0];
		said[1] = mine[1];
		MPI_Isend(said, 2, MPI_LONG_LONG, next, 0, heartbeats, &sending);
	}
	for (;; heard = 1) {
		MPI_Iprobe(before, 0, heartbeats, &there, MPI_STATUS_IGNORE);
		if (!there)
			return heard;
		MPI_Recv(theirs, 2, MPI_LONG_LONG, before, 0, heartbeats, MPI_STATUS_IGNORE);
	}
}

static void end(int status) { MPI_Abort(MPI_COMM_WORLD, status); }
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// world is the ranks of MPI_COMM_WORLD.
type world struct {
	rank, size int
	begun      atomic.Int64 // collective calls
	ended      atomic.Int64 // of these
	prompt     atomic.Bool  // the last one begun is one that all ranks should come to at once
	stop, done chan struct{}
}

// Start joins the ranks that mpirun has started. It returns nil for a process that was
// started by itself.
func Start() (World, error) {
	if !launched() {
		return nil, nil
	}
	var rank, size C.int
	if C.start(&rank, &size) == 0 {
		return nil, errors.New("MPI does not start, or not for several threads (MPI_THREAD_MULTIPLE)")
	}
	w := &world{rank: int(rank), size: int(size), stop: make(chan struct{}), done: make(chan struct{})}
	go w.watch()
	return w, nil
}

func (w *world) Rank() int { return w.rank }
func (w *world) Size() int { return w.size }

func (w *world) Broadcast(b []byte) {
	const most = 1 << 30 // of what C counts by int
	for ; len(b) > most; b = b[most:] {
		w.call(C.BROADCAST, b[:most], nil, most)
	}
	w.call(C.BROADCAST, b, nil, len(b))
}

func (w *world) Allgather(dst, src []byte) { w.call(C.ALLGATHER, dst, src, len(src)) }
func (w *world) Alltoall(dst, src []byte)  { w.call(C.ALLTOALL, dst, src, len(src)/w.size) }

// call makes a collective call, of n bytes of each rank. That of Alltoall is for the gradients of
// a step: all ranks come to it after the same work, at nearly the same time.
func (w *world) call(kind C.int, dst, src []byte, n int) {
	if n > math.MaxInt32 {
		panic(fmt.Sprintf("mpi: %d bytes at once: MPI takes 2 GB at most", n))
	}
	w.prompt.Store(kind == C.ALLTOALL)
	w.begun.Add(1)
	C.collective(kind, unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src)), C.int(n))
	w.ended.Add(1)
}

// Close waits until all ranks have come to their end.
func (w *world) Close() {
	w.call(C.BARRIER, nil, nil, 0)
	close(w.stop)
	<-w.done
	C.MPI_Finalize()
}

func (w *world) Abort(status int) { C.end(C.int(status)) }

// A rank is given up after that many heartbeats, one a second, without a sign of life; or
// while another one awaits it, without a sign of the step in which it is awaited, or of
// work.
const patience = 20

// leastWork is the time of a processor that counts as work within patience. Who
// reads a file, if only by a few MB a second, takes more; a process that waits
// takes a tenth of it.
const leastWork = 100 * time.Millisecond

// work is the time of processors that this process has taken.
func work() time.Duration {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		panic(err) // of wrong arguments
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// watch gives the next rank a sign of life every second, and ends all ranks where
// the one of the rank before stays away. It counts its own seconds: where all processes of a
// machine were stopped for a while, nothing is missed.
func (w *world) watch() {
	defer close(w.done)
	if w.size == 1 {
		<-w.stop
		return
	}
	next, before := (w.rank+1)%w.size, (w.rank+w.size-1)%w.size
	silent, late, idle := 0, 0, 0
	was := int64(0)          // calls that this rank had begun
	var theirs [2]C.longlong // calls and work of the rank before
	worked := theirs[1]      // when it was last seen working
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-second.C:
		}
		begun := w.begun.Load()
		mine := [2]C.longlong{C.longlong(begun), C.longlong(work())}
		silent++
		if C.beat(C.int(next), C.int(before), &mine[0], &theirs[0]) != 0 {
			silent = 0
		}
		late++
		idle++
		if begun != was || w.ended.Load() == begun || int64(theirs[0]) >= begun { // it is not awaited
			late, idle = 0, 0
		}
		if !w.prompt.Load() {
			late = 0
		}
		if idle == 0 || time.Duration(theirs[1]-worked) >= leastWork {
			idle, worked = 0, theirs[1]
		}
		was = begun
		switch {
		case silent >= patience:
			w.giveUp(before, fmt.Sprintf("has given no sign of life for %d seconds", patience))
		case late >= patience:
			w.giveUp(before, fmt.Sprintf("has not come to the end of a step for %d seconds", patience))
		case idle >= patience:
			w.giveUp(before, fmt.Sprintf("has done nothing for %d seconds, while another one waits for it", patience))
		}
	}
}

func (w *world) giveUp(rank int, why string) {
	fmt.Fprintf(os.Stderr, "train: rank %d of %d %s: all ranks end\n", rank, w.size, why)
	w.Abort(1)
}
