package main

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/datasets"
)

// The cost model of scale.md. A step of training takes the time of the slowest rank, and
// the time of the exchange of gradients:
//
//	T = max over ranks r of busy·noise_r·(step + shard·shards_r + document·documents_r)
//	    + message·2(P−1) + (byte + 1/rate)·2G(P−1)/P
//
// for P ranks with a core each and a gradient of G bytes. Step, shard and document are
// fitted to one rank; busy, how much slower a core is while others work, and the
// distribution of noise to two; message and byte to exchanges among 2 and 8 ranks. Ranks
// that share cores take turns: their times add up. The copies that a rank makes of a
// gradient are in byte.

const (
	scaleCores   = 2                 // of the machine of the measurements
	gigabit      = 1e9 / 8 * 0.94    // bytes a second, without what TCP and Ethernet add
	heldOutRanks = 4                 // are predicted, not fitted
	gigabitLink  = "gigabitethernet" // is the link ethernet at that rate
)

// scaleLinks are those whose costs are fitted.
var scaleLinks = []string{"memory", "loopback", "ethernet"}

var scaleRecipes = []string{"default", "wide"}

// stepCost is the cost of a recipe's steps.
type stepCost struct {
	weights               float64
	step, shard, document float64   // seconds of a rank
	busy                  float64   // factor
	noise                 []float64 // factors, from 1
}

// exchangeCost is the cost of exchanges over a link, in seconds of a core.
type exchangeCost struct{ message, byte float64 }

// seconds of an exchange of a gradient among ranks that have the given cores and send at a
// rate in bytes a second; 0: as fast as the cores can.
func (c exchangeCost) seconds(ranks, cores int, bytes, rate float64) float64 {
	messages := 2 * float64(ranks-1)
	bytes *= messages / float64(ranks)
	t := (c.message*messages + c.byte*bytes) * max(1, float64(ranks)/float64(cores))
	if rate > 0 {
		t += bytes / rate
	}
	return t
}

// An exchangeTime is a measurement, in seconds.
type exchangeTime struct {
	link                 string
	ranks, bytes, median float64
}

// rankStep is what a rank has in a step, or a set of alike ones: the least of the seconds.
type rankStep struct{ shards, documents, seconds float64 }

// A measuredRun is the steps of training with some ranks.
type measuredRun struct {
	link, ranks, core, batch string

	steps map[string][]rankStep // by step: of each rank, the least seconds of all rounds
	noise []float64             // seconds by the least
	mean  float64               // seconds of a step, exchange included
}

type scaleModel struct {
	steps     map[string]*stepCost
	runs      map[string][]*measuredRun // by recipe
	exchanges map[string]exchangeCost
	exchanged []exchangeTime
	epochs    map[string][]float64 // seconds of an epoch on this machine, by run
	sizes     []float64            // documents of queries
}

// readScale reads the measurements in a folder, and fits the model.
func readScale(folder string) (*scaleModel, error) {
	m := &scaleModel{steps: map[string]*stepCost{}, runs: map[string][]*measuredRun{}, exchanges: map[string]exchangeCost{}}
	for _, link := range append(slices.Clone(scaleLinks), gigabitLink) {
		if err := eachRow(filepath.Join(folder, "exchange-"+link+".csv"), m.readExchange); err != nil {
			return nil, err
		}
	}
	for _, link := range scaleLinks {
		if err := m.fitExchange(link); err != nil {
			return nil, err
		}
	}
	for _, recipe := range scaleRecipes {
		if err := m.readSteps(recipe, filepath.Join(folder, "steps-"+recipe+".csv")); err != nil {
			return nil, err
		}
		if err := m.fitSteps(recipe); err != nil {
			return nil, err
		}
	}
	m.epochs = map[string][]float64{}
	if err := eachRow(filepath.Join(folder, "ranks.csv"), func(row map[string]string) error {
		v, err := numbers(row, "seconds")
		if err != nil {
			return err
		}
		m.epochs[row["run"]] = append(m.epochs[row["run"]], v[0])
		return nil
	}); err != nil {
		return nil, err
	}
	d := datasets.Synthetic(datasets.SyntheticOptions{Train: 2000, Vali: 2, Test: 1}).Train
	for q := range d.Queries() {
		m.sizes = append(m.sizes, float64(d.Offsets[q+1]-d.Offsets[q]))
	}
	slices.Sort(m.sizes)
	return m, nil
}

// leastSquares gives the factors of columns whose sums have the least squared relative
// errors.
func leastSquares(rows [][]float64, want []float64) ([]float64, error) {
	a, b := mat.NewDense(len(rows), len(rows[0]), nil), mat.NewVecDense(len(rows), nil)
	for i, row := range rows {
		for j, v := range row {
			a.Set(i, j, v/want[i])
		}
		b.SetVec(i, 1)
	}
	var x mat.VecDense
	if err := x.SolveVec(a, b); err != nil {
		return nil, err
	}
	return x.RawVector().Data, nil
}

func (m *scaleModel) readExchange(row map[string]string) error {
	v, err := numbers(row, "ranks", "bytes", "median")
	if err == nil {
		m.exchanged = append(m.exchanged, exchangeTime{row["link"], v[0], v[1], v[2]})
	}
	return err
}

func (m *scaleModel) fitExchange(link string) error {
	var rows [][]float64
	var seconds []float64
	for _, e := range m.exchanged {
		if e.link != link || e.ranks == heldOutRanks {
			continue
		}
		shared := max(1, e.ranks/scaleCores)
		messages := 2 * (e.ranks - 1)
		rows = append(rows, []float64{shared * messages, shared * messages / e.ranks * e.bytes})
		seconds = append(seconds, e.median)
	}
	x, err := leastSquares(rows, seconds)
	if err != nil {
		return fmt.Errorf("exchanges over %s: %w", link, err)
	}
	m.exchanges[link] = exchangeCost{message: x[0], byte: x[1]}
	return nil
}

// readSteps puts the rows of a recipe together by runs.
func (m *scaleModel) readSteps(recipe, path string) error {
	byRun := map[string]*measuredRun{}
	seconds := map[*measuredRun]map[[2]string][]float64{} // by step and rank
	if err := eachRow(path, func(row map[string]string) error {
		v, err := numbers(row, "runs", "documents", "compute", "exchange", "weights")
		if err != nil {
			return err
		}
		key := fmt.Sprint(row["link"], row["ranks"], row["core"], row["batch"])
		run := byRun[key]
		if run == nil {
			run = &measuredRun{link: row["link"], ranks: row["ranks"], core: row["core"], batch: row["batch"], steps: map[string][]rankStep{}}
			byRun[key], seconds[run] = run, map[[2]string][]float64{}
			m.runs[recipe] = append(m.runs[recipe], run)
		}
		at := [2]string{row["step"], row["rank"]}
		if seconds[run][at] == nil {
			run.steps[row["step"]] = append(run.steps[row["step"]], rankStep{shards: v[0], documents: v[1]})
		}
		seconds[run][at] = append(seconds[run][at], v[2])
		if row["rank"] == "0" {
			run.mean += v[2] + v[3]
		}
		m.steps[recipe] = &stepCost{weights: v[4]}
		return nil
	}); err != nil {
		return err
	}
	for run, by := range seconds {
		rounds := 0
		for _, step := range slices.Sorted(maps.Keys(run.steps)) {
			for rank := range run.steps[step] {
				all := by[[2]string{step, strconv.Itoa(rank)}]
				least := slices.Min(all)
				run.steps[step][rank].seconds = least
				for _, s := range all {
					run.noise = append(run.noise, s/least)
				}
				rounds = len(all)
			}
		}
		run.mean /= float64(rounds * len(run.steps))
	}
	return nil
}

// fitSteps fits the costs of a step to one rank, and then to two.
func (m *scaleModel) fitSteps(recipe string) error {
	c := m.steps[recipe]
	var rows [][]float64
	var seconds []float64
	for _, run := range m.runs[recipe] {
		if run.ranks != "1" {
			continue
		}
		for _, step := range slices.Sorted(maps.Keys(run.steps)) {
			one := run.steps[step][0]
			rows, seconds = append(rows, []float64{1, one.shards, one.documents}), append(seconds, one.seconds)
		}
	}
	x, err := leastSquares(rows, seconds)
	if err != nil {
		return fmt.Errorf("steps of %s: %w", recipe, err)
	}
	c.step, c.shard, c.document, c.busy = x[0], x[1], x[2], 1
	for _, run := range m.runs[recipe] {
		if !run.fitsBusy() {
			continue
		}
		var slower []float64
		for _, step := range slices.Sorted(maps.Keys(run.steps)) {
			for _, one := range run.steps[step] {
				slower = append(slower, one.seconds/c.seconds(one))
			}
		}
		c.busy, c.noise = stat.Mean(slower, nil), slices.Sorted(slices.Values(run.noise))
	}
	return nil
}

// fitsBusy reports whether a run is the one that busy and noise are fitted to.
func (r *measuredRun) fitsBusy() bool { return r.link == "memory" && r.ranks == "2" }

// seconds of a rank in a step, without noise.
func (c *stepCost) seconds(s rankStep) float64 {
	return c.busy * (c.step + c.shard*s.shards + c.document*s.documents)
}

// slowest is the mean of the time of the slowest of ranks, by the given number of draws of noise.
func (c *stepCost) slowest(ranks []rankStep, noise []float64, draws int, rng *rand.Rand) float64 {
	sum := 0.0
	for range draws {
		slowest := 0.0
		for _, r := range ranks {
			slowest = max(slowest, c.seconds(r)*noise[rng.IntN(len(noise))])
		}
		sum += slowest
	}
	return sum / float64(draws)
}

// predict is the mean time of a step of a run that was measured.
func (m *scaleModel) predict(recipe string, run *measuredRun) float64 {
	c := m.steps[recipe]
	rng := rand.New(rand.NewPCG(1, 1))
	ranks, _ := strconv.Atoi(run.ranks)
	sum := 0.0
	for _, step := range slices.Sorted(maps.Keys(run.steps)) {
		of := run.steps[step]
		if ranks <= scaleCores {
			sum += c.slowest(of, c.noise, 100, rng)
			continue
		}
		for _, r := range of { // they share the cores
			sum += c.seconds(r) * stat.Mean(c.noise, nil) / scaleCores
		}
	}
	link, rate := run.link, 0.0
	if link == gigabitLink {
		link, rate = "ethernet", gigabit
	}
	return sum/float64(len(run.steps)) + m.exchanges[link].seconds(ranks, scaleCores, 4*c.weights, rate)
}

// A cluster is what training is drawn to: ranks with a core and a part of the network each.
type cluster struct {
	name    string
	recipe  string
	rate    float64 // bytes a second
	steady  bool    // no noise
	random  bool    // each shard in a random order, rather than all in one order of sizes
	queries int     // of a rank in a step
}

// epoch gives the minutes of an epoch over the given documents, and the shares of waiting for the
// slowest rank and of the exchange in it.
func (m *scaleModel) epoch(k cluster, documents float64, ranks int) (minutes, waiting, exchanging float64) {
	c := m.steps[k.recipe]
	noise := c.noise
	if k.steady {
		noise = []float64{1}
	}
	rng := rand.New(rand.NewPCG(2, 2))
	perQuery := stat.Mean(m.sizes, nil)
	mean := c.seconds(rankStep{1, float64(k.queries) * perQuery, 0}) * stat.Mean(noise, nil)
	slowest := 0.0
	const draws = 60
	of := make([]rankStep, ranks)
	var parts [][]int // of the sizes, by query: each of the draws has another one
	for range k.queries {
		parts = append(parts, rng.Perm(draws))
	}
	for draw := range draws {
		for r := range of {
			of[r] = rankStep{shards: 1}
		}
		for _, part := range parts {
			place := int((float64(part[draw]) + rng.Float64()) / draws * float64(len(m.sizes)))
			for r := range of {
				n := m.sizes[place] * (1 + 0.1*(rng.Float64()-0.5)) // see train.Trainer.arrange
				if k.random {
					n = m.sizes[rng.IntN(len(m.sizes))]
				}
				of[r].documents += n
			}
		}
		slowest += c.slowest(of, noise, 1, rng) / draws
	}
	exchange := m.exchanges["ethernet"].seconds(ranks, ranks, 4*c.weights, k.rate)
	steps := math.Ceil(documents / perQuery / float64(k.queries*ranks))
	total := slowest + exchange
	return steps * total / 60, max(0, slowest-mean) / total, exchange / total
}

// exchangeErrors are the typical factors between predicted and measured times of exchanges
// over a link, e to the root of the mean squared logarithm: for those that are fitted, and
// for the others.
func (m *scaleModel) exchangeErrors(link string) (fitted, held float64) {
	of, rate := link, 0.0
	if link == gigabitLink {
		of, rate = "ethernet", gigabit
	}
	var sums, counts [2]float64
	for _, e := range m.exchanged {
		if e.link != link {
			continue
		}
		kind := 0
		if e.ranks == heldOutRanks {
			kind = 1
		}
		log := math.Log(m.exchanges[of].seconds(int(e.ranks), scaleCores, e.bytes, rate) / e.median)
		sums[kind] += log * log
		counts[kind]++
	}
	return math.Exp(math.Sqrt(sums[0] / counts[0])), math.Exp(math.Sqrt(sums[1] / counts[1]))
}
