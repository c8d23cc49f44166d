// Command worth compares package worth with choix, the Python library, on simulated rankings, and at the size of a
// million rankings; the tables of worth.md. It needs a Python with worth/requirements.txt:
//
//	go run ./worth -python PYTHON
//	go run ./worth -large
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/plrank/plrank/lab/internal/csvfile"
	"github.com/plrank/plrank/worth"
)

// A trial is a simulation of rankings: orders of items drawn at random, whose log-worths are normal.
type trial struct {
	name                    string
	items, rankings, length int
	chosen                  bool     // only the first of each is known
	functions               []string // of choix
}

var trials = []trial{
	{"full rankings", 20, 1000, 20, false, []string{"ilsr_rankings", "mm_rankings"}},
	{"partial rankings", 1000, 100_000, 10, false, []string{"ilsr_rankings", "mm_rankings"}},
	{"comparisons of pairs", 200, 20_000, 2, false, []string{"ilsr_pairwise", "mm_pairwise"}},
	{"choices from sets", 100, 10_000, 6, true, []string{"ilsr_top1", "mm_top1"}},
}

var large = trial{"partial rankings", 100_000, 1_000_000, 10, false, nil}

func main() {
	log.SetFlags(0)
	python := flag.String("python", "python3", "Python with worth/requirements.txt")
	size := flag.Bool("large", false, "fit a million rankings of 100,000 items instead")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("worth: unexpected argument %q", flag.Arg(0))
	}
	name, measure := "choix.csv", func() ([][]string, error) { return compareChoix(*python) }
	if *size {
		name, measure = "large.csv", measureLarge
	}
	lines, err := measure()
	if err == nil {
		err = csvfile.Write(filepath.Join("worth", name), lines)
	}
	if err != nil {
		log.Fatalf("worth: %v", err)
	}
}

// simulate gives the rankings and, unless they are many, the orders.
func (t trial) simulate() (*worth.Observations, [][]int, error) {
	rng := rand.New(rand.NewPCG(1, uint64(t.items)))
	r := &worth.Observations{}
	rates := make([]float64, t.items)
	for i := range rates {
		rates[i] = math.Exp(rng.NormFloat64())
		r.Item(strconv.Itoa(i))
	}
	times := make([]float64, t.items)
	var orders [][]int
	for range t.rankings {
		var order []int
		for len(order) < t.length {
			if i := rng.IntN(t.items); !slices.Contains(order, i) {
				order = append(order, i)
				times[i] = rng.ExpFloat64() / rates[i]
			}
		}
		slices.SortFunc(order, func(i, j int) int { return cmp.Compare(times[i], times[j]) })
		ranking := worth.Ranking{}
		for k := range order {
			ranking.Places = append(ranking.Places, order[k:k+1])
		}
		if t.chosen {
			ranking = worth.Ranking{Places: [][]int{order[:1]}, Rest: order[1:]}
		}
		if err := r.Add(ranking); err != nil {
			return nil, nil, err
		}
		if t.functions != nil {
			orders = append(orders, order)
		}
	}
	return r, orders, nil
}

// fits is how often worth fits, before choix and as often after it. Its time is the mean of all.
const fits = 5

// compareChoix fits every trial by both.
func compareChoix(python string) ([][]string, error) {
	lines := [][]string{
		{"data", "items", "rankings", "length", "choix", "seconds of choix", "seconds of worth", "ratio", "largest difference"},
	}
	for _, t := range trials {
		r, orders, err := t.simulate()
		if err != nil {
			return nil, err
		}
		_, before, err := fit(r, fits)
		if err != nil {
			return nil, err
		}
		peers, err := t.choix(python, orders)
		if err != nil {
			return nil, err
		}
		model, after, err := fit(r, fits)
		if err != nil {
			return nil, err
		}
		for _, name := range t.functions {
			difference, seconds := 0.0, (before+after)/2
			for i, p := range peers[name].Params {
				difference = max(difference, math.Abs(p-model.LogWorths[i]))
			}
			lines = append(lines, []string{t.name, strconv.Itoa(t.items), strconv.Itoa(t.rankings), strconv.Itoa(t.length), name,
				fmt.Sprintf("%.3g", peers[name].Seconds), fmt.Sprintf("%.2g", seconds),
				fmt.Sprintf("%.0f", peers[name].Seconds/seconds), fmt.Sprintf("%.0e", difference)})
			log.Println(lines[len(lines)-1])
		}
	}
	return lines, nil
}

// fit fits n times, and gives the model and the mean of the seconds that it took.
func fit(r *worth.Observations, n int) (model *worth.Model, seconds float64, err error) {
	started := time.Now()
	for range n {
		if model, err = worth.Fit(context.Background(), r, worth.Options{}); err != nil {
			return nil, 0, err
		}
	}
	return model, time.Since(started).Seconds() / float64(n), nil
}

// A peer is a fit of choix, whose log-worths have the mean zero.
type peer struct {
	Seconds float64
	Params  []float64
}

func (t trial) choix(python string, orders [][]int) (map[string]peer, error) {
	var data any = orders
	if t.chosen { // pairs of the chosen item and the others
		pairs := make([][2]any, len(orders))
		for i, order := range orders {
			pairs[i] = [2]any{order[0], order[1:]}
		}
		data = pairs
	}
	job, err := json.Marshal(map[string]any{"items": t.items, "functions": t.functions, "data": data})
	if err != nil {
		return nil, err
	}
	script := exec.Command(python, filepath.Join("worth", "choix_fit.py"))
	script.Stdin, script.Stderr = bytes.NewReader(job), os.Stderr
	out, err := script.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(script.Args, " "), err)
	}
	var peers map[string]peer
	return peers, json.Unmarshal(out, &peers)
}

// measureLarge fits the large trial, with the diagonal of the Hessian for standard errors.
func measureLarge() ([][]string, error) {
	r, _, err := large.simulate()
	if err != nil {
		return nil, err
	}
	model, seconds, err := fit(r, 1)
	if err != nil {
		return nil, err
	}
	started := time.Now()
	if _, err := model.Uncertainty(); err != nil {
		return nil, err
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return nil, err
	}
	return [][]string{
		{
			"items",
			"rankings",
			"length",
			"steps",
			"seconds of the fit",
			"seconds of the standard errors",
			"largest memory of the process, MB",
			"cores",
		},
		{
			strconv.Itoa(large.items),
			strconv.Itoa(large.rankings),
			strconv.Itoa(large.length),
			strconv.Itoa(model.Steps),
			fmt.Sprintf("%.2g", seconds),
			fmt.Sprintf("%.2g", time.Since(started).Seconds()),
			strconv.FormatInt(usage.Maxrss/1024, 10),
			strconv.Itoa(runtime.GOMAXPROCS(0)),
		},
	}, nil
}
