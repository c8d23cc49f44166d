//go:build mpi

package trainer

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plrank/plrank/internal/testkit"
)

// mpirun is the command on a number of ranks, which share memory.
func mpirun(t *testing.T, ranks int, args ...string) *exec.Cmd {
	t.Helper()
	return mpirunOver(t, testkit.Memory, ranks, args...)
}

// mpirunOver is the command on a number of ranks over a link.
func mpirunOver(t *testing.T, link testkit.Link, ranks int, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	run := testkit.MPICommand(ctx, t, ranks, link, os.Args[0], args...)
	run.Env = append(run.Env, childVariable+"=0")
	return run
}

// mpirunOfTwo is one rank of the command with each of two lists of arguments.
func mpirunOfTwo(t *testing.T, first, second []string) *exec.Cmd {
	t.Helper()
	return mpirun(t, 1, slices.Concat(first, []string{":", "-n", "1", os.Args[0]}, second)...)
}

// outputOf runs it: what came on standard output, and after it what came on standard error.
// They are kept apart until then, because mpirun passes on what it has read of either, and
// may do so in the middle of a line.
func outputOf(run *exec.Cmd) (string, error) {
	var stdout, stderr bytes.Buffer
	run.Stdout, run.Stderr = &stdout, &stderr
	err := run.Run()
	return stdout.String() + stderr.String(), err
}

// busyRun is a run in which all that is random is, and much is left to do.
func busyRun(t *testing.T) (args []string) {
	return []string{"-data", fold(t), "-loss", "plrank-rb", "-samples", "20", "-cutoff", "3", "-scorer", "mlp", "-hidden", "8", "-members", "2", "-dropout", "0.3", "-batch", "6", "-epochs", "4", "-cache", "off", "-seed", "3"}
}

// withoutTimes is the history of a run.
func withoutTimes(t *testing.T, out string) string {
	return regexp.MustCompile(`"(trainS|s)econds":[^,}]*`).ReplaceAllString(read(t, filepath.Join(out, "metrics.jsonl")), "")
}

// One, two, three and four ranks end with the files of one process with as many shards, also
// after a run that went on with another number of them.
func TestRanksGiveTheSameFiles(t *testing.T) {
	args := busyRun(t)
	dir := t.TempDir()
	want := filepath.Join(dir, "alone")
	if status, _, stderr := call(append(args, "-shards", "8", "-out", want)...); status != 0 {
		t.Fatal(stderr)
	}
	for ranks := 1; ranks <= 4; ranks++ {
		out := filepath.Join(dir, fmt.Sprint(ranks))
		if output, err := outputOf(mpirun(t, ranks, append(args, "-out", out)...)); err != nil {
			t.Fatalf("%d ranks: %v\n%s", ranks, err, output)
		}
		checkSameRun(t, out, want)
	}
	out := filepath.Join(dir, "resumed")
	for i, ranks := range []int{3, 1, 2, 4} {
		so := append(args, "-out", out, "-epochs", fmt.Sprint(i+1))
		if i > 0 {
			so = []string{"-resume", "-out", out, "-epochs", fmt.Sprint(i + 1), "-cache", "off"}
		}
		if output, err := outputOf(mpirun(t, ranks, so...)); err != nil {
			t.Fatalf("%d ranks, epoch %d: %v\n%s", ranks, i+1, err, output)
		}
	}
	checkSameRun(t, out, want)
}

// Two ranks end with the files of one process, too, where features are seen through bins, and where such a run goes on
// from a model that has them.
func TestRanksWithBinsGiveTheSameFiles(t *testing.T) {
	args, dir := append(busyRun(t), "-bins", "4"), t.TempDir()
	for _, name := range []string{"first", "second"} {
		want, out := filepath.Join(dir, name), filepath.Join(dir, name+"2")
		if status, _, stderr := call(append(args, "-shards", "8", "-out", want)...); status != 0 {
			t.Fatal(stderr)
		}
		if output, err := outputOf(mpirun(t, 2, append(args, "-out", out)...)); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		checkSameRun(t, out, want)
		args = append(args, "-init-model", filepath.Join(want, "model.npz"))
	}
}

// Two ranks train the same mixture as one process, also after a run that went on.
func TestRanksTrainTheSameMixture(t *testing.T) {
	args, dir := []string{"-data", table(t), "-cache", "off", "-epochs", "4"}, t.TempDir()
	want, out := filepath.Join(dir, "alone"), filepath.Join(dir, "ranks")
	must(t, append(args, "-shards", "8", "-out", want)...)
	for _, so := range [][]string{append(args, "-out", out), {"-resume", "-out", out}} {
		output, err := outputOf(mpirun(t, 2, so...))
		if err != nil || strings.Count(output, "model 6 of 6") != 1 {
			t.Fatalf("%v\n%s", err, output)
		}
		for _, folder := range []string{"", "model1", "model4"} {
			checkSameRun(t, filepath.Join(out, folder), filepath.Join(want, folder))
		}
		if err := os.Remove(filepath.Join(out, "model4", "model.npz")); err != nil {
			t.Fatal(err)
		}
	}
	output, err := outputOf(mpirunOfTwo(t, args, append(slices.Clone(args), "-scorer", "mlp")))
	if want := "rank 1 of 2: train: the number of models by flags and data: 1, on rank 0 6\n"; err == nil || strings.Count(output, want) != 1 {
		t.Errorf("%v, want once %q:\n%s", err, want, output)
	}
}

// checkSameRun checks that two runs have the same files, except times.
func checkSameRun(t *testing.T, out, want string) {
	t.Helper()
	if !bytes.Equal([]byte(read(t, filepath.Join(out, "model.npz"))), []byte(read(t, filepath.Join(want, "model.npz")))) {
		t.Error("another model")
	}
	if withoutTimes(t, out) != withoutTimes(t, want) {
		t.Errorf("history\n%swant\n%s", withoutTimes(t, out), withoutTimes(t, want))
	}
	if read(t, filepath.Join(out, "result.json")) != read(t, filepath.Join(want, "result.json")) {
		t.Error("another result")
	}
}

// What all ranks find wrong is said once; what one of them does ends all, with a line that
// names it.
func TestRanksSayOnceWhatIsWrong(t *testing.T) {
	data := fold(t)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"-data", data, "-loss", "plrnk"}, `no loss "plrnk"`},
		{[]string{"-data", data + "/none"}, "none: no such file"},
		{[]string{"-data", data, "-shards", "1"}, "train: 2 ranks for 1 shards: want -shards 2 or more, or fewer ranks"},
		{[]string{"-model", "m.npz"}, "there is no flag -model"},
		{[]string{"-data", data, "-out", data}, "name a new folder"},
	} {
		out, err := outputOf(mpirun(t, 2, test.args...))
		if err == nil || strings.Count(out, test.want) != 1 {
			t.Errorf("%q: %v, want once %q:\n%s", test.args, err, test.want, out)
		}
	}
	path := filepath.Join(data, "train.txt")
	write(t, path, read(t, path)+"2 qid:up 2:3e38\n0 qid:up 2:-3e38\n")
	out, err := outputOf(mpirun(t, 2, "-data", data, "-transform", "none", "-scorer", "mlp", "-hidden", "", "-members", "1", "-loss", "softmax", "-batch", "1"))
	if err == nil || !regexp.MustCompile(`(?m)^rank [01] of 2: train: epoch 1, step \d+, query up of .*: the loss is `).MatchString(out) || strings.Count(out, "query up") != 1 {
		t.Errorf("%v:\n%s", err, out)
	}
}

// A rank that was started with other data or other flags ends all, with one line that names it
// and what differs. The same data in another folder are no difference.
func TestRanksMustHaveTheSameTask(t *testing.T) {
	data, same, other, longer := fold(t), fold(t), fold(t), fold(t)
	path := filepath.Join(other, "train.txt")
	text := read(t, path)
	label := map[byte]string{'0': "1"}[text[0]]
	if label == "" {
		label = "0"
	}
	write(t, path, label+text[1:])
	path = filepath.Join(longer, "train.txt")
	write(t, path, read(t, path)+"2 qid:more 1:1\n0 qid:more 2:1\n")
	three := folds(t, 3)
	common := []string{"-cache", "off", "-epochs", "2", "-scorer", "mlp", "-hidden", "4", "-members", "1"}
	for _, test := range []struct {
		first, second []string
		want          string // "": no error
	}{
		{[]string{"-data", data}, []string{"-data", other}, "rank 1 of 2: train: differs from rank 0 by labels of the training split: all processes must use the same configuration and data"},
		{[]string{"-data", data}, []string{"-data", longer}, "rank 1 of 2: train: differs from rank 0 by feature values, labels, queries of the training split"},
		{[]string{"-data", data}, []string{"-data", data, "-lr", "0.5"}, "learningRate is 0.5, on rank 0 "},
		{[]string{"-data", data}, []string{"-data", data, "-loss", "softmax"}, `loss is "softmax", on rank 0 "`},
		{[]string{"-data", three, "-folds", "all"}, []string{"-data", three, "-fold", "1"}, "rank 1 of 2: train: folds: [], on rank 0 [1 2 3]"},
		{[]string{"-data", data}, []string{"-data", same}, ""},
	} {
		out, err := outputOf(mpirunOfTwo(t, slices.Concat(common, test.first), slices.Concat(common, test.second)))
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%q and %q: %v\n%s", test.first, test.second, err, out)
		case test.want != "" && (err == nil || strings.Count(out, test.want) != 1 || strings.Contains(out, "MPI_ERR")):
			t.Errorf("%q and %q: %v, want once %q:\n%s", test.first, test.second, err, test.want, out)
		}
	}
}

// ranksOf are the processes that a running mpirun has started.
func ranksOf(t *testing.T, run *exec.Cmd) (ids []int) {
	t.Helper()
	eventually(t, "three ranks", func() bool {
		out, _ := exec.Command("pgrep", "-P", fmt.Sprint(run.Process.Pid)).Output()
		ids = ids[:0]
		for _, line := range strings.Fields(string(out)) {
			if id, err := strconv.Atoi(line); err == nil {
				ids = append(ids, id)
			}
		}
		return len(ids) == 3
	})
	return ids
}

// lasts is the state of a process that is still there after so long, and nothing of one that has
// ended: mpirun does not wait until the processes that it has killed have left.
func lasts(id int, wait time.Duration) (stat string) {
	for end := time.Now().Add(wait); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
		threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", id))
		if stat = string(data); err != nil || strings.Contains(stat, ") Z ") && len(threads) <= 1 { // others may still have files open
			return ""
		}
	}
	return stat
}

// A rank that is killed or that hangs ends all, and so does SIGTERM to mpirun; one message names the rank; what had been learnt
// can be gone on with.
func TestRanksEndTogether(t *testing.T) {
	args := slices.Clip(append(busyRun(t), "-epochs", "100000", "-patience", "0")) // no room left: the runs append to it side by side
	for _, test := range []struct {
		name string
		do   func(run *exec.Cmd, ranks []int) error
		want string
	}{
		{"killed", func(_ *exec.Cmd, ranks []int) error { return syscall.Kill(ranks[1], syscall.SIGKILL) }, `mpirun noticed that process rank \d .*signal 9`},
		{"stopped", func(_ *exec.Cmd, ranks []int) error { return syscall.Kill(ranks[1], syscall.SIGSTOP) }, `train: rank \d of 3 has given no sign of life for 20 seconds: all ranks end`},
		{"terminated", func(run *exec.Cmd, _ []int) error { return run.Process.Signal(syscall.SIGTERM) }, `(?m)^interrupted: `},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "run")
			run := mpirun(t, 3, append(args, "-out", out)...)
			var stdout, stderr bytes.Buffer // one for both would have lines within lines: see outputOf
			run.Stdout, run.Stderr = &stdout, &stderr
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				run.Process.Kill()
				run.Wait()
				if t.Failed() {
					t.Logf("%s\non standard output:\n%s", stderr.String(), stdout.String())
				}
			})
			ranks := ranksOf(t, run)
			eventually(t, "a checkpoint", func() bool {
				_, err := os.Stat(filepath.Join(out, "checkpoint.npz"))
				return err == nil
			})
			if err := test.do(run, ranks); err != nil {
				t.Fatal(err)
			}
			if err := run.Wait(); err == nil {
				t.Error("no error")
			}
			if n := len(regexp.MustCompile(test.want).FindAllString(stderr.String(), -1)); n != 1 {
				t.Errorf("%d times %q", n, test.want)
			}
			for _, rank := range ranks {
				if stat := lasts(rank, 5*time.Second); stat != "" {
					t.Errorf("process %d is still there: %s", rank, stat)
				}
			}
			lines := strings.Count(read(t, filepath.Join(out, "metrics.jsonl")), "\n")
			if status, _, stderr := call("-resume", "-out", out, "-epochs", fmt.Sprint(lines+1), "-cache", "off"); status != 0 {
				t.Errorf("status %d\n%s", status, stderr)
			}
		})
	}
}
