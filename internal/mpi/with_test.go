//go:build mpi

package mpi_test

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/internal/testkit"
)

// part is what the test binary does as one of the ranks of a test.
const part = "PLRANK_TEST_PART"

var parts = map[string]func(mpi.World){"calls": everyCall, "late": late(step, hang), "idle": late(meet, hang), "busy": late(meet, busy)}

func TestMain(m *testing.M) {
	if play := parts[os.Getenv(part)]; play != nil {
		w, err := mpi.Start()
		if err != nil {
			panic(err)
		}
		play(w)
		w.Close()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// ranks plays a part on a number of ranks.
func ranks(t *testing.T, n int, name string) (output string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // for ranks that do not end
	defer cancel()
	run := testkit.MPICommand(ctx, t, n, testkit.Memory, os.Args[0])
	run.Env = append(run.Env, part+"="+name)
	out, err := run.CombinedOutput()
	return string(out), err
}

// everyCall is every collective call, with small and large slices.
func everyCall(w mpi.World) {
	for _, size := range []int{0, 1, 1000, 1 << 20} {
		mine := bytes.Repeat([]byte{byte(w.Rank() + 1)}, size)
		copied := bytes.Clone(mine)
		w.Broadcast(copied)
		check(w, "broadcast", copied, func(int) byte { return 1 })
		all := make([]byte, w.Size()*size)
		w.Allgather(all, mine)
		check(w, "all-gather", all, func(i int) byte { return byte(i/size + 1) })
		for i := range all {
			all[i] = byte(10*w.Rank() + i/size)
		}
		back := make([]byte, len(all))
		w.Alltoall(back, all)
		check(w, "all-to-all", back, func(i int) byte { return byte(10*(i/size) + w.Rank()) })
	}
	if w.Rank() == 0 {
		fmt.Printf("all is well with %d\n", w.Size())
	}
}

func check(w mpi.World, what string, got []byte, want func(i int) byte) {
	for i, b := range got {
		if b != want(i) {
			panic(fmt.Sprintf("rank %d: %s: byte %d is %d, want %d", w.Rank(), what, i, b, want(i)))
		}
	}
}

func TestEveryCall(t *testing.T) {
	for n := 1; n <= 4; n++ {
		if output, err := ranks(t, n, "calls"); err != nil || output != fmt.Sprintf("all is well with %d\n", n) {
			t.Errorf("%d ranks: %v\n%s", n, err, output)
		}
	}
}

// In a late part one of the ranks does not come to a call, for a while or for ever.
func late(call func(w mpi.World), one func()) func(mpi.World) {
	return func(w mpi.World) {
		if w.Rank() == 1 {
			one()
		}
		call(w)
	}
}

func step(w mpi.World) { w.Alltoall(make([]byte, w.Size()), make([]byte, w.Size())) }
func meet(w mpi.World) { w.Allgather(make([]byte, w.Size()), make([]byte, 1)) }

func hang() { select {} }

// patience is how many seconds ranks wait for one another, as the messages below say.
const patience = 20

// busy works for longer than patience, as a rank does that reads a large file.
func busy() {
	var b [1 << 16]byte
	sum := uint32(0)
	for start := time.Now(); time.Since(start) < (patience+5)*time.Second; {
		for range 10 {
			sum += crc32.ChecksumIEEE(b[:])
		}
		time.Sleep(10 * time.Millisecond) // for the next part of the file
	}
	b[0] = byte(sum)
}

// A rank that lives, and does not come to the end of its step, ends all; so does one
// that does nothing where others wait for it. One that works is waited for.
func TestOneIsLate(t *testing.T) {
	for _, c := range []struct{ part, want string }{
		{"late", "train: rank 1 of 3 has not come to the end of a step for 20 seconds: all ranks end\n"},
		{"idle", "train: rank 1 of 3 has done nothing for 20 seconds, while another one waits for it: all ranks end\n"},
		{"busy", ""},
	} {
		t.Run(c.part, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			output, err := ranks(t, 3, c.part)
			if c.want == "" {
				if err != nil || output != "" {
					t.Errorf("%v after %v:\n%s", err, time.Since(start), output)
				}
				return
			}
			if err == nil || strings.Count(output, c.want) != 1 {
				t.Errorf("%v after %v:\n%s", err, time.Since(start), output)
			}
		})
	}
}
