//go:build mpi

package trainer

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plrank/plrank/train"
)

// How fast two ranks on two cores are, and one rank; on a machine on which nothing else runs,
// some times:
//
//	go build -o plain ./cmd/train && go build -tags mpi -o mpi ./cmd/train
//	go test -tags mpi ./cmd/internal/trainer -run TestSpeedOfRanks -v -count 1 -args -speed ../../../lab/scale/ranks.csv -plain ../../../plain -mpi ../../../mpi
var (
	speedFile    = flag.String("speed", "", "the `file` to which TestSpeedOfRanks adds its times; without it, it is skipped")
	plainProgram = flag.String("plain", "", "the `program` train for TestSpeedOfRanks, without MPI")
	mpiProgram   = flag.String("mpi", "", "and with it")
)

// TestSpeedOfRanks times epochs in MSLR's shape with 32 queries a step: of one process on
// each of two cores, of one rank there, of two ranks with a core each, and of two threads.
func TestSpeedOfRanks(t *testing.T) {
	if *speedFile == "" {
		t.Skip("without -speed")
	}
	dir := t.TempDir()
	work := []string{"-data", "synthetic:mslr", "-scale", "0.01", "-batch", "32", "-epochs", "6", "-patience", "0", "-seed", "1"}
	plain, mpi := *plainProgram, *mpiProgram
	one, two := []string{"mpirun", "-n", "1", "--bind-to", "none", mpi, "-threads", "1"}, []string{"mpirun", "-n", "2", "--bind-to", "core", mpi, "-threads", "1"}
	runs := []struct {
		name string
		line []string
	}{
		{"one process, core 0", []string{"taskset", "-c", "0", plain, "-threads", "1", "-shards", "8"}},
		{"one rank, core 0", slices.Concat([]string{"taskset", "-c", "0"}, one)},
		{"one process, core 1", []string{"taskset", "-c", "1", plain, "-threads", "1", "-shards", "8"}},
		{"one rank, core 1", slices.Concat([]string{"taskset", "-c", "1"}, one)},
		{"two ranks, a core each", two},
		{"one process, two threads, one shard", []string{plain, "-threads", "2", "-shards", "1"}},
	}
	var rows [][]string
	if _, err := os.Stat(*speedFile); err != nil {
		rows = append(rows, []string{"run", "seconds"})
	}
	for _, one := range runs {
		out := filepath.Join(dir, one.name)
		line := slices.Concat(one.line, work, []string{"-out", out})
		run := exec.CommandContext(t.Context(), line[0], line[1:]...)
		run.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
		if text, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", one.name, err, text)
		}
		var seconds []float64 // of training in all epochs but the first, in which data are transformed
		for text := range strings.Lines(read(t, filepath.Join(out, "metrics.jsonl"))) {
			var e train.Epoch
			if err := json.Unmarshal([]byte(text), &e); err != nil {
				t.Fatal(err)
			}
			if e.Epoch > 1 {
				seconds = append(seconds, e.TrainSeconds)
			}
		}
		slices.Sort(seconds)
		median := seconds[len(seconds)/2]
		t.Logf("%s: %.3f s an epoch", one.name, median)
		rows = append(rows, []string{one.name, strconv.FormatFloat(median, 'f', 4, 64)})
	}
	f, err := os.OpenFile(*speedFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(csv.NewWriter(f).WriteAll(rows), f.Close()); err != nil {
		t.Fatal(err)
	}
}
