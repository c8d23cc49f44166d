//go:build mpi

package mpi

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// part is what the test binary does as one of the ranks of a test.
const part = "PLRANK_TEST_PART"

var parts = map[string]func(World){"calls": everyCall, "late": oneIsLate}

func TestMain(m *testing.M) {
	if play := parts[os.Getenv(part)]; play != nil {
		w, err := Start()
		if err != nil {
			panic(err)
		}
		play(w)
		w.Close()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// ranks plays a part on so many ranks.
func ranks(t *testing.T, n int, name string) (output string, err error) {
	t.Helper()
	run := exec.CommandContext(t.Context(), "mpirun", "--oversubscribe", "--bind-to", "none", "-n", fmt.Sprint(n), os.Args[0])
	run.Env = append(os.Environ(), part+"="+name, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	out, err := run.CombinedOutput()
	return string(out), err
}

// everyCall is every collective call, with small and large slices.
func everyCall(w World) {
	for _, size := range []int{0, 1, 1000, 1 << 20} {
		mine := bytes.Repeat([]byte{byte(w.Rank() + 1)}, size)
		of := bytes.Clone(mine)
		w.Broadcast(of)
		check(w, "broadcast", of, func(int) byte { return 1 })
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

func check(w World, what string, got []byte, want func(i int) byte) {
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

// oneIsLate is a rank that lives, and does not come to the end of its step.
func oneIsLate(w World) {
	if w.Rank() == 1 {
		select {}
	}
	w.Alltoall(make([]byte, w.Size()), make([]byte, w.Size()))
}

func TestOneIsLate(t *testing.T) {
	start := time.Now()
	output, err := ranks(t, 3, "late")
	const want = "train: rank 1 of 3 has not come to the end of a step for 20 seconds: all ranks end\n"
	if err == nil || strings.Count(output, want) != 1 || time.Since(start) > 30*time.Second {
		t.Errorf("%v after %v:\n%s", err, time.Since(start), output)
	}
}
