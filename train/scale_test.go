//go:build mpi

package train

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/train/internal/shards"
)

// What lab/scale.md's cost model is fitted to, on a machine on which nothing else runs:
//
//	go test -tags mpi ./train -run 'TestExchange|TestSteps' -count 1 -timeout 1h -args -scale ../lab/scale
var scaleFolder = flag.String("scale", "", "the `folder` of lab/scale.md's measurements, to make them; without it, a few are made and checked")

// scalePart is what the test binary does as one of the ranks of a measurement, with its
// arguments.
const scalePart = "PLRANK_TEST_SCALE"

func TestMain(m *testing.M) {
	words := strings.Fields(os.Getenv(scalePart))
	if len(words) == 0 {
		os.Exit(m.Run())
	}
	world, err := mpi.Start()
	if err != nil {
		panic(err)
	}
	runtime.GOMAXPROCS(1)
	out := bufio.NewWriter(os.Stdout)
	switch words[0] {
	case "exchange":
		exchangeSums(world, out, words[1:])
	case "steps":
		timeSteps(world, out, words[1:])
	}
	out.Flush()
	world.Close()
	os.Exit(0)
}

// underMPI runs a part on a number of ranks, and returns the lines of its output. A core of 0 or
// more is the only one for all of them.
func underMPI(t *testing.T, ranks int, link testkit.Link, core int, part string) [][]string {
	t.Helper()
	run := testkit.MPICommand(t.Context(), t, ranks, link, os.Args[0])
	if core >= 0 {
		run.Args = append([]string{"taskset", "-c", strconv.Itoa(core)}, run.Args...)
		run.Path, run.Err = exec.LookPath("taskset")
	}
	run.Env = append(run.Env, scalePart+"="+part)
	var complaints strings.Builder
	run.Stderr = &complaints
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%s on %d ranks over %s: %v\n%s%s", part, ranks, link, err, out, complaints.String())
	}
	var rows [][]string
	for line := range strings.Lines(string(out)) {
		rows = append(rows, strings.Split(strings.TrimSpace(line), ","))
	}
	return rows
}

// saveRows writes a CSV file of lab/scale, if that was asked for.
func saveRows(t *testing.T, name string, head []string, rows [][]string) {
	t.Helper()
	if *scaleFolder == "" {
		return
	}
	f, err := os.Create(filepath.Join(*scaleFolder, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(csv.NewWriter(f).WriteAll(append([][]string{head}, rows...)), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// exchangeSums times the sum of gradients of given sizes, in numbers.
func exchangeSums(g mpi.Group, out *bufio.Writer, sizes []string) {
	for _, text := range sizes {
		n, err := strconv.Atoi(text)
		if err != nil {
			panic(err)
		}
		own, total := make([]float32, n), make([]float32, n)
		r := shards.NewReduction(g, g.Size(), [][]float32{own})
		var seconds []float64
		times := 2 + min(100, max(3, 1<<23/n)) // the first two are not counted
		for i := range times {
			for k := range own {
				own[k] = float32(g.Rank() + i)
			}
			start := time.Now()
			r.Sum(total, shards.Record{Losses: make([]float64, 1)})
			if i >= 2 {
				seconds = append(seconds, time.Since(start).Seconds())
			}
			want := float32(g.Size()*(g.Size()-1)/2 + g.Size()*i)
			if k := slices.IndexFunc(total, func(x float32) bool { return x != want }); k >= 0 {
				panic(fmt.Sprintf("sum %d: number %d is %v, want %v", i, k, total[k], want))
			}
		}
		slices.Sort(seconds)
		if g.Rank() == 0 {
			fmt.Fprintf(out, "%d,%.4g,%.4g\n", 4*n, seconds[0], seconds[len(seconds)/2])
		}
	}
}

// TestExchange times the exchange of gradients by their size, the number of ranks, and what is
// between them.
func TestExchange(t *testing.T) {
	links, counts, most := []testkit.Link{testkit.Memory}, []int{2}, 1<<16
	if *scaleFolder != "" {
		links, counts, most = []testkit.Link{testkit.Memory, testkit.Loopback, testkit.Ethernet, testkit.Gigabit}, []int{2, 4, 8}, 1<<28
	}
	for _, link := range links {
		t.Run(string(link), func(t *testing.T) {
			if err := testkit.LinkPossible(link); err != nil {
				t.Skip(err)
			}
			var rows [][]string
			for _, ranks := range counts {
				part := "exchange"
				// All ranks have about five times as much in memory.
				for size := 1 << 10; size <= min(most, 1<<29/ranks); size *= 4 {
					part += fmt.Sprintf(" %d", size/4)
				}
				for _, row := range underMPI(t, ranks, link, -1, part) {
					rows = append(rows, append([]string{string(link), strconv.Itoa(ranks)}, row...))
				}
				t.Logf("%d ranks: the last was %v", ranks, rows[len(rows)-1])
			}
			if *scaleFolder == "" && len(rows) != 4 {
				t.Errorf("%d sizes: %v", len(rows), rows)
			}
			saveRows(t, "exchange-"+string(link)+".csv", []string{"link", "ranks", "bytes", "fastest", "median"}, rows)
		})
	}
}

// scaleRecipes are those whose steps are measured.
func scaleRecipe(name string) Config {
	c := Default()
	if name == "wide" {
		c.Hidden, c.Dropout, c.LearningRate, c.Decay, c.Members, c.Transform = []int{256, 128}, 0.1, 0.0015, 0.6, 1, "log-standard+quantile"
	}
	c.Shards, c.Patience, c.Metric = 8, 0, "ndcg@10"
	return c
}

// exchangeTimer takes the time of the exchanges of gradients.
type exchangeTimer struct {
	mpi.Group
	start time.Time
	in    bool
	took  time.Duration // the last one
}

func (g *exchangeTimer) Alltoall(dst, src []byte) {
	g.start, g.in = time.Now(), true
	g.Group.Alltoall(dst, src)
}

func (g *exchangeTimer) Allgather(dst, src []byte) {
	g.Group.Allgather(dst, src)
	if g.in {
		g.in, g.took = false, time.Since(g.start)
	}
}

// timeSteps trains by a recipe with a number of queries a step, on a number of queries, for some
// epochs, and writes of each step after the first epoch, of every rank: its
// shards that had queries, its documents, the seconds it computed, and the seconds of the
// exchange, in which waiting for the others is included.
func timeSteps(g mpi.Group, out *bufio.Writer, words []string) {
	numbers := make([]int, 3)
	for i := range numbers {
		var err error
		if numbers[i], err = strconv.Atoi(words[1+i]); err != nil {
			panic(err)
		}
	}
	c := scaleRecipe(words[0])
	c.Batch, c.Epochs = numbers[0], numbers[2]
	timer := &exchangeTimer{Group: g}
	t, err := New(c.Plain(), Custom{Processes: timer}, datasets.Synthetic(datasets.SyntheticOptions{Train: numbers[1], Vali: 8, Test: 1}))
	if err != nil {
		panic(err)
	}
	var own []float64 // of this rank: shards, documents, computing, exchanging
	last := time.Now()
	_, err = t.Run(context.Background(), Hooks{Step: func(s Step) {
		step := time.Since(last).Seconds()
		exchange := timer.took.Seconds()
		if timer.took = 0; s.Epoch > 1 && s.Step > 1 { // no graphs to be made, and no validation
			documents, shards := 0, map[int]bool{}
			d := t.data.splits.Train
			order := t.loop.batches.Division.Order(s.Epoch-1, t.data.Queries, t.data.Documents)
			for at := (s.Step - 1) * c.Batch; at < min(s.Step*c.Batch, len(order)); at++ {
				if slices.Contains(t.loop.batches.Own, at%c.Shards) {
					documents += d.Offsets[order[at]+1] - d.Offsets[order[at]]
					shards[at%c.Shards] = true
				}
			}
			own = append(own, float64(len(shards)), float64(documents), step-exchange, exchange)
		}
		last = time.Now()
	}})
	if err != nil {
		panic(err)
	}
	all := make([]float64, g.Size()*len(own))
	g.Allgather(mpi.Bytes(all), mpi.Bytes(own))
	if g.Rank() > 0 {
		return
	}
	for rank := range g.Size() {
		theirs := all[rank*len(own):][:len(own)]
		for i := 0; i < len(theirs); i += 4 {
			fmt.Fprintf(out, "%d,%d,%d,%.0f,%.0f,%.4g,%.4g\n", len(networkOf(t).Weights), i/4, rank, theirs[i], theirs[i+1], theirs[i+2], theirs[i+3])
		}
	}
}

// TestSteps times the steps of training on each rank, in MSLR's shape.
func TestSteps(t *testing.T) {
	type run struct {
		ranks, batch int
		link         testkit.Link
		core         int // the only one; −1: all
	}
	recipes, runs, queries, epochs, rounds := []string{"default"}, []run{{2, 16, testkit.Memory, -1}}, 60, 2, 1
	if *scaleFolder != "" {
		recipes, queries, epochs, rounds = []string{"default", "wide"}, 378, 3, 3
		runs = []run{
			{1, 32, testkit.Memory, 0}, {1, 32, testkit.Memory, 1}, {1, 8, testkit.Memory, 0}, {1, 4, testkit.Memory, 1},
			{2, 32, testkit.Memory, -1}, {4, 32, testkit.Memory, -1}, {2, 32, testkit.Gigabit, -1},
		}
	}
	for _, recipe := range recipes {
		t.Run(recipe, func(t *testing.T) {
			var rows [][]string
			for round := range rounds {
				for _, r := range runs {
					if err := testkit.LinkPossible(r.link); err != nil {
						t.Skip(err)
					}
					for _, row := range underMPI(t, r.ranks, r.link, r.core, fmt.Sprintf("steps %s %d %d %d", recipe, r.batch, queries, epochs)) {
						rows = append(rows, append([]string{recipe, strconv.Itoa(round), string(r.link), strconv.Itoa(r.ranks), strconv.Itoa(r.core), strconv.Itoa(r.batch)}, row...))
						for _, cell := range row[5:] {
							if x, err := strconv.ParseFloat(cell, 64); err != nil || !(x > 0) && r.ranks > 1 {
								t.Errorf("%v: %v", r, row)
							}
						}
					}
				}
				t.Logf("round %d", round)
			}
			saveRows(t, "steps-"+recipe+".csv", []string{"recipe", "round", "link", "ranks", "core", "batch", "weights", "step", "rank", "runs", "documents", "compute", "exchange"}, rows)
		})
	}
}
