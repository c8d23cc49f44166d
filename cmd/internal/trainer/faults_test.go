package trainer

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/file"
	"github.com/plrank/plrank/internal/npzfile"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// All of it, as lab/faults.md has it, takes some minutes:
//
//	go test ./cmd/internal/trainer -run TestFaults -v -count 1 -timeout 2h -args -faults ../../../lab/faults/faults.csv
var faultsFile = flag.String("faults", "", "try all faults, not a few of each kind, and write their numbers to this CSV `file`")

// some is how many to try: all of them, or a few.
func some(few, all int) int {
	if *faultsFile != "" {
		return all
	}
	return min(few, all)
}

// childVariable makes the test binary the command train. Its value is the number of the
// operation on a file at which the command kills itself, 0: at none.
const childVariable = "PLRANK_TEST_CHILD"

func asChild() {
	n, err := strconv.Atoi(os.Getenv(childVariable))
	if err != nil {
		return // no child
	}
	var mutex sync.Mutex
	file.Fault = func(string, string) error {
		mutex.Lock()
		defer mutex.Unlock()
		if n--; n == 0 {
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				self.Kill()
			}
			select {}
		}
		return nil
	}
	os.Exit(Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// child is the command, in a process of its own.
func child(dieAt int, args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%d", childVariable, dieAt))
	return c
}

// A faulty is a run that meets faults, and how it ends without any.
type faulty struct {
	data, cache, out string
	end              map[string]any
	counts           []faultCount
}

// A faultCount is how often a run met a kind of fault, and what came of it.
type faultCount struct {
	fault  string
	trials int
	told   int // the run ended, or went on with a warning
	same   int // it reached the same result: bit for bit, after it was resumed if it had ended
	lost   int // it could not reach its result any more
	silent int // it reached another result, and nobody was told
}

const faultyEpochs = 3

func (f *faulty) args(more ...string) []string {
	return append([]string{"-data", f.data, "-cache", f.cache, "-out", f.out, "-epochs", strconv.Itoa(faultyEpochs),
		"-scorer", "mlp", "-hidden", "4", "-dropout", "0.1", "-members", "1", "-transform", "minmax", "-batch", "8", "-seed", "2"}, more...)
}

// newFolder is an empty folder: on a disk where all faults are tried, else in memory, if
// there is such a file system, where syncs cost nothing.
func newFolder(t *testing.T) string {
	if *faultsFile == "" || strings.Contains(t.Name(), "damage") {
		if dir, err := os.MkdirTemp("/dev/shm", "plrank"); err == nil {
			t.Cleanup(func() { os.RemoveAll(dir) })
			return dir
		}
	}
	return t.TempDir()
}

// begin takes new folders for the run and its cache.
func (f *faulty) begin(t *testing.T) {
	dir := newFolder(t)
	f.cache, f.out = filepath.Join(dir, "cache"), filepath.Join(dir, "run")
}

func newFaulty(t *testing.T) *faulty {
	f := &faulty{data: fold(t)}
	f.begin(t)
	must(t, f.args()...)
	f.end = f.ending(t)
	return f
}

// ending is what is in the folder of the run, without times.
func (f *faulty) ending(t *testing.T) map[string]any {
	t.Helper()
	end := map[string]any{}
	for _, name := range []string{cli.SettingsFile, cli.ModelFile, cli.ResultFile} {
		end[name] = read(t, filepath.Join(f.out, name))
	}
	end[cli.HistoryFile] = timeless(t, read(t, filepath.Join(f.out, cli.HistoryFile)))
	for _, name := range []string{cli.CheckpointFile, cli.PreviousFile} {
		var header any
		file, err := npzfile.Read[float64](filepath.Join(f.out, name), &header)
		if err != nil {
			t.Fatal(err)
		}
		end[name] = file.Arrays
	}
	entries, err := os.ReadDir(f.out)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			t.Errorf("left behind: %s", e.Name())
		}
	}
	return end
}

// timeless is the epochs of a history without times.
func timeless(t *testing.T, text string) []train.Epoch {
	t.Helper()
	var epochs []train.Epoch
	for line := range strings.Lines(text) {
		var e train.Epoch
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		e.Seconds, e.TrainSeconds = 0, 0
		epochs = append(epochs, e)
	}
	return epochs
}

// whole looks that every file of a run that has ended somehow is whole: an old one or a
// new one.
func (f *faulty) whole(t *testing.T) {
	t.Helper()
	for _, name := range []string{cli.SettingsFile, cli.ResultFile} {
		if text, err := os.ReadFile(filepath.Join(f.out, name)); err == nil && !json.Valid(text) {
			t.Errorf("%s is not whole", name)
		}
	}
	if text, err := os.ReadFile(filepath.Join(f.out, cli.HistoryFile)); err == nil {
		epochs, want := timeless(t, string(text)), f.end[cli.HistoryFile].([]train.Epoch)
		if len(epochs) > len(want) || !slices.EqualFunc(epochs, want[:len(epochs)], func(a, b train.Epoch) bool { return reflect.DeepEqual(a, b) }) {
			t.Errorf("%s has other epochs", cli.HistoryFile)
		}
	}
	if _, err := ranker.Open(filepath.Join(f.out, cli.ModelFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for _, name := range []string{cli.CheckpointFile, cli.PreviousFile} {
		var header any
		if _, err := npzfile.Read[float64](filepath.Join(f.out, name), &header); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}

// goOn runs to the end what has ended somehow, and compares. The fault was told of or not.
func (f *faulty) goOn(t *testing.T, c *faultCount, told bool) {
	t.Helper()
	args := f.args()
	if _, err := os.Stat(filepath.Join(f.out, cli.SettingsFile)); err == nil {
		args = []string{"-resume", "-out", f.out, "-epochs", strconv.Itoa(faultyEpochs), "-cache", f.cache}
	}
	status, _, stderr := call(args...)
	told = told || strings.Contains(stderr, "warning: ")
	switch {
	case status != 0:
		c.lost++
		t.Errorf("%s: it does not go on: status %d, %s", c.fault, status, stderr)
	case reflect.DeepEqual(f.ending(t), f.end):
		c.same++
	case !told:
		c.silent++
		t.Errorf("%s: it ends otherwise, and nothing was said:\n%s", c.fault, stderr)
	default:
		c.lost++
		t.Errorf("%s: it ends otherwise:\n%s", c.fault, stderr)
	}
	if told {
		c.told++
	}
	c.trials++
}

func (f *faulty) count(t *testing.T, fault string, do func(t *testing.T, c *faultCount)) {
	t.Run(fault, func(t *testing.T) {
		c := faultCount{fault: fault}
		do(t, &c)
		f.counts = append(f.counts, c)
	})
}

// A run goes on after faults of all kinds, and ends with the same bits.
func TestFaults(t *testing.T) {
	f := newFaulty(t)
	rng := rand.New(rand.NewPCG(1, 0))
	operations := f.operations(t)
	f.count(t, "an operation on a file fails once", func(t *testing.T, c *faultCount) { f.failing(t, c, rng, operations, false) })
	f.count(t, "the disk is full from an operation on", func(t *testing.T, c *faultCount) { f.failing(t, c, rng, operations, true) })
	f.count(t, "a file system of few bytes is full", f.fullDisk)
	f.count(t, "killed (SIGKILL) at an operation on a file", func(t *testing.T, c *faultCount) {
		for _, n := range pick(rng, operations, 2) {
			f.begin(t)
			err := child(n+1, f.args()...).Run()
			if err == nil {
				t.Fatalf("operation %d: the run was not killed", n+1)
			}
			f.whole(t)
			f.goOn(t, c, true)
		}
	})
	length := f.length(t)
	f.count(t, "killed (SIGKILL) at a random moment", func(t *testing.T, c *faultCount) {
		for range some(1, 220) {
			f.kill(t, c, time.Duration(rng.Int64N(int64(length))), syscall.SIGKILL)
		}
	})
	f.count(t, "terminated twice (SIGTERM) at a random moment", func(t *testing.T, c *faultCount) {
		for range some(1, 30) {
			f.kill(t, c, time.Duration(rng.Int64N(int64(length))), syscall.SIGTERM)
		}
	})
	f.count(t, "damage to the checkpoint", func(t *testing.T, c *faultCount) { f.damagedCheckpoint(t, c, rng) })
	f.count(t, "damage to the model file", func(t *testing.T, c *faultCount) { f.damagedModel(t, c, rng) })
	f.count(t, "damage to the cache of the data", func(t *testing.T, c *faultCount) { f.damagedCache(t, c, rng) })
	f.report(t)
}

// pick is all numbers below n, or a few.
func pick(rng *rand.Rand, n, few int) []int {
	picked := rng.Perm(n)[:some(few, n)]
	slices.Sort(picked)
	return picked
}

// operations counts the operations on files of a run.
func (f *faulty) operations(t *testing.T) int {
	n := 0
	f.begin(t)
	f.faultAt(func(string, string) error { n++; return nil }, func() { must(t, f.args()...) })
	return n
}

// faultAt sets file.Fault, which calls fault by one goroutine at a time, while do
// runs.
func (f *faulty) faultAt(fault func(operation, path string) error, do func()) {
	var mutex sync.Mutex
	file.Fault = func(operation, path string) error {
		mutex.Lock()
		defer mutex.Unlock()
		return fault(operation, path)
	}
	defer func() { file.Fault = nil }()
	do()
}

// failing lets operations on files fail, each by itself, or all from one on.
func (f *faulty) failing(t *testing.T, c *faultCount, rng *rand.Rand, operations int, lasting bool) {
	for _, at := range pick(rng, operations, 2) {
		f.begin(t)
		fault := error(syscall.EIO)
		if lasting {
			fault = syscall.ENOSPC
		}
		n := 0
		var failed []string // paths
		var status int
		var stderr string
		f.faultAt(func(operation, path string) error {
			n++
			if n-1 == at || lasting && n > at {
				failed = append(failed, path)
				return &fs.PathError{Op: operation, Path: path, Err: fault}
			}
			return nil
		}, func() { status, _, stderr = call(f.args()...) })
		if len(failed) == 0 {
			t.Fatalf("operation %d of %d was not met", at, operations)
		}
		ofRun := slices.ContainsFunc(failed, func(path string) bool { // a picture and a page are not needed
			return filepath.Dir(path) == f.out && !slices.Contains([]string{cli.CurveFile, cli.ReportFile}, filepath.Base(path))
		})
		last := failed[len(failed)-1]
		if ofRun && status != 1 || !ofRun && status != 0 || !strings.Contains(stderr, fault.Error()) || !strings.Contains(stderr, last) {
			t.Errorf("operation %d, of %s: status %d, %s", at, last, status, stderr)
		}
		f.whole(t)
		for _, folder := range []string{f.out, f.cache} {
			if left, _ := filepath.Glob(filepath.Join(folder, ".*.[0-9]*")); left != nil {
				t.Errorf("operation %d: left behind: %q", at, left)
			}
		}
		f.goOn(t, c, true)
	}
}

// fullDisk puts the run on file systems of more and more bytes, until one has room for it.
func (f *faulty) fullDisk(t *testing.T, c *faultCount) {
	step := 8
	if *faultsFile == "" {
		step = 100
	}
	for size := step; ; size += step {
		if enough := f.smallDisk(t, c, size); enough {
			return
		}
	}
}

// smallDisk is a run on a file system of some kB, and reports whether they are enough.
func (f *faulty) smallDisk(t *testing.T, c *faultCount, size int) (enough bool) {
	dir := t.TempDir()
	if err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dk", size), "plrank", dir).Run(); err != nil {
		t.Skip("no file system can be mounted here (which takes root)")
	}
	defer exec.Command("umount", "--lazy", dir).Run() // caches stay mapped
	f.cache, f.out = filepath.Join(dir, "cache"), filepath.Join(dir, "run")
	status, _, stderr := call(f.args()...)
	full := strings.Contains(stderr, syscall.ENOSPC.Error())
	if status == 0 && !full {
		if c.trials == 0 {
			t.Errorf("%d kB are room enough", size)
		}
		return true
	}
	if !full || status > 1 {
		t.Errorf("%d kB: status %d, %s", size, status, stderr)
	}
	f.whole(t)
	if err := exec.Command("mount", "-o", "remount,size=1g", dir).Run(); err != nil {
		t.Fatal(err)
	}
	f.goOn(t, c, true)
	return false
}

// length is how long a run takes.
func (f *faulty) length(t *testing.T) time.Duration {
	f.begin(t)
	start := time.Now()
	if out, err := child(0, f.args()...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return time.Since(start)
}

// kill sends a signal after a time, one that asks for the end twice.
func (f *faulty) kill(t *testing.T, c *faultCount, after time.Duration, signal syscall.Signal) {
	f.begin(t)
	p := child(0, f.args()...)
	var stderr bytes.Buffer
	p.Stderr = &stderr
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	p.Process.Signal(signal)
	if signal != syscall.SIGKILL {
		time.Sleep(after / 50)
		p.Process.Signal(signal)
	}
	if err := p.Wait(); err == nil { // it was at its end
		return
	}
	f.whole(t)
	f.goOn(t, c, true)
}

// damages are copies of a file, each with another damage: a bit or a byte changed, 512
// bytes that were never written, or the rest missing.
func damages(rng *rand.Rand, good []byte) func(yield func(damage string, data []byte) bool) {
	return func(yield func(string, []byte) bool) {
		n := some(4, min(600, len(good)))
		for i := range n {
			at := (i*len(good) + rng.IntN(len(good))) / n
			data := bytes.Clone(good)
			damage := ""
			switch rng.IntN(8) {
			case 0:
				data, damage = data[:at], "cut off"
			case 1:
				clear(data[at:min(len(data), at+512)])
				damage = "512 bytes are 0"
			case 2, 3, 4:
				data[at] ^= 1 << rng.IntN(8)
				damage = "a bit changed"
			default:
				data[at] ^= byte(1 + rng.IntN(255))
				damage = "a byte changed"
			}
			if !bytes.Equal(data, good) && !yield(fmt.Sprintf("byte %d of %d: %s", at, len(good), damage), data) {
				return
			}
		}
	}
}

func (f *faulty) damagedCheckpoint(t *testing.T, c *faultCount, rng *rand.Rand) {
	f.begin(t)
	must(t, append(f.args(), "-epochs", strconv.Itoa(faultyEpochs-1))...)
	begun := f.out
	good := read(t, filepath.Join(begun, cli.CheckpointFile))
	for damage, data := range damages(rng, []byte(good)) {
		f.out = filepath.Join(newFolder(t), "run")
		if err := os.CopyFS(f.out, os.DirFS(begun)); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(f.out, cli.CheckpointFile), string(data))
		f.goOn(t, c, false)
		if t.Failed() {
			t.Fatal(damage)
		}
	}
}

// readDamaged runs the command on a damaged file, and compares what it prints, and the
// files that it writes, with what it did before.
func (f *faulty) readDamaged(t *testing.T, c *faultCount, path, damage string, data []byte, want string, result func() (status int, result, stderr string)) {
	write(t, path, string(data))
	status, got, stderr := result()
	told := status == 1 && stderr != "" || strings.Contains(stderr, "warning: ")
	c.trials++
	if told {
		c.told++
	}
	switch {
	case status == 0 && got == want:
		c.same++
	case !told:
		c.silent++
		t.Errorf("%s: another result, and nothing was said: status %d, %s", damage, status, stderr)
	}
}

func (f *faulty) damagedModel(t *testing.T, c *faultCount, rng *rand.Rand) {
	f.begin(t)
	must(t, f.args()...)
	model := filepath.Join(f.out, cli.ModelFile)
	good := read(t, model)
	result := func() (int, string, string) {
		m, err := ranker.Open(model)
		if err != nil {
			return 1, "", err.Error()
		}
		d, err := datasets.ReadFile(filepath.Join(f.data, "test.txt"), datasets.OptionsFor(m))
		if err != nil {
			return 1, "", err.Error()
		}
		scores, err := datasets.Score(m, d)
		if err != nil {
			return 1, "", err.Error()
		}
		return 0, fmt.Sprint(scores), ""
	}
	_, want, _ := result()
	for damage, data := range damages(rng, []byte(good)) {
		f.readDamaged(t, c, model, damage, data, want, result)
	}
}

func (f *faulty) damagedCache(t *testing.T, c *faultCount, rng *rand.Rand) {
	f.begin(t)
	result := func() (int, string, string) {
		return call("-data", f.data, "-cache", f.cache, "-epochs", "1", "-scorer", "mlp", "-hidden", "", "-members", "1", "-transform", "minmax", "-seed", "2")
	}
	_, want, _ := result()
	caches, err := filepath.Glob(filepath.Join(f.cache, ".plrank-*"))
	if err != nil || len(caches) != 1 {
		t.Fatalf("caches %q, %v", caches, err)
	}
	good := read(t, caches[0])
	for damage, data := range damages(rng, []byte(good)) {
		f.readDamaged(t, c, caches[0], damage, data, want, result)
		if rebuilt := read(t, caches[0]); rebuilt != good && rebuilt != string(data) {
			t.Fatalf("%s: the cache that was built anew is another one", damage)
		}
	}
	if c.same != c.trials {
		c.lost += c.trials - c.same
		t.Errorf("%d of %d runs did not read the data anew", c.trials-c.same, c.trials)
	}
}

// report prints the numbers, and writes them to the file that is asked for.
func (f *faulty) report(t *testing.T) {
	rows := [][]string{{"fault", "trials", "told", "same result", "lost", "silently different"}}
	for _, c := range f.counts {
		rows = append(rows, []string{c.fault, strconv.Itoa(c.trials), strconv.Itoa(c.told), strconv.Itoa(c.same), strconv.Itoa(c.lost), strconv.Itoa(c.silent)})
	}
	var text bytes.Buffer
	if err := csv.NewWriter(&text).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", &text)
	if *faultsFile == "" {
		return
	}
	write(t, *faultsFile, text.String())
}
