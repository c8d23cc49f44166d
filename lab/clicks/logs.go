package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/plackett"
)

// writeLog writes what obp_check.py compares.
func writeLog(arguments []string) error {
	if len(arguments) != 1 {
		return errArguments
	}
	l, err := clicks.Simulate(made(1000, 10, 1), logger(3), user(3), 1000, 1)
	if err != nil {
		return err
	}
	estimates, err := clicks.Evaluate(l, clicks.Target{Policy: target}, clicks.IIPS, clicks.RIPS, clicks.WholeRanking)
	if err != nil {
		return err
	}
	out := struct {
		Estimates  map[clicks.Estimator]float64
		Placements [][]float64 // by impression: of the documents shown, under the logged scores
	}{Estimates: map[clicks.Estimator]float64{}}
	for _, e := range estimates {
		out.Estimates[e.Estimator] = e.Value
	}
	e := plackett.Expectation{Tolerance: 1e-13}
	for _, im := range l.Impressions {
		all := make([]float64, 3*len(im.Scores))
		if err := e.Placements(im.Scores, 3, all); err != nil {
			return err
		}
		var shown []float64
		for k, d := range im.Shown {
			shown = append(shown, all[3*d+k])
		}
		out.Placements = append(out.Placements, shown)
	}
	if err := os.MkdirAll(arguments[0], 0o777); err != nil {
		return err
	}
	text, err := json.Marshal(out)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(arguments[0], "estimates.json"), text, 0o666); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(arguments[0], "log.jsonl"))
	if err != nil {
		return err
	}
	defer f.Close()
	return clicks.Write(f, l)
}

// intervals prints, over 200 logs of 10,000 impressions of 50 queries, the error of the
// estimates and how often their intervals of 95 % have the true value.
func intervals([]string) error {
	fmt.Println("documents,cutoff,value,estimator,rmse,bias,coverage")
	for _, size := range [][2]int{{20, 5}, {200, 10}} {
		d := made(50, size[0], 1)
		truth := 0.0
		var e plackett.Expectation
		for q := range d.Queries() {
			from, to := d.Offsets[q], d.Offsets[q+1]
			value, err := e.Gradient(scaled(d.Features[from:to], 4), scaled(d.Labels[from:to], 1), theta(size[1]), make([]float64, to-from))
			if err != nil {
				return err
			}
			truth += value / 50
		}
		errors, covered := map[clicks.Estimator][]float64{}, map[clicks.Estimator]float64{}
		for seed := range uint64(200) {
			l, err := clicks.Simulate(d, logger(size[1]), user(size[1]), 10000, seed)
			if err != nil {
				return err
			}
			t := clicks.Target{Policy: target, Bias: clicks.Bias{Alpha: theta(size[1])}, Bootstrap: metrics.Bootstrap{Resamples: 500, Seed: seed}}
			estimates, err := clicks.Evaluate(l, t, clicks.WholeRanking, clicks.RIPS, clicks.IIPS, clicks.PolicyAware, clicks.DR)
			if err != nil {
				return err
			}
			for _, e := range estimates {
				errors[e.Estimator] = append(errors[e.Estimator], e.Value-truth)
				if e.Low <= truth && truth <= e.High {
					covered[e.Estimator] += 1. / 200
				}
			}
		}
		for _, e := range []clicks.Estimator{clicks.WholeRanking, clicks.RIPS, clicks.IIPS, clicks.PolicyAware, clicks.DR} {
			mean, sd := stat.PopMeanStdDev(errors[e], nil)
			fmt.Printf("%d,%d,%.4f,%s,%.4f,%.4f,%.3f\n", size[0], size[1], truth, e, math.Hypot(mean, sd), mean, covered[e])
		}
	}
	return nil
}

// openBandit evaluates the uniform policy on the log of another, from the CSV files of the Open
// Bandit Dataset (Saito et al. 2020), also prints the clicks of the log of the uniform policy, and writes the
// other's as a log of plrank.
func openBandit(arguments []string) error {
	if len(arguments) != 3 {
		return errArguments
	}
	bts, err := readBandit(arguments[0])
	if err != nil {
		return err
	}
	random, err := readBandit(arguments[1])
	if err != nil {
		return err
	}
	uniform := func(im *clicks.Impression) ([]float64, error) { return make([]float64, len(im.Documents)), nil }
	estimates, err := clicks.Evaluate(bts, clicks.Target{Policy: uniform}, clicks.IIPS)
	if err != nil {
		return err
	}
	clicked := 0.0
	for _, im := range random.Impressions {
		clicked += im.Clicks[0] / float64(len(random.Impressions))
	}
	e := estimates[0]
	fmt.Printf(
		"%s,%d,%d,%.6f,%.6f,%.6f,%.1f,%.1f,%.6f\n",
		strings.TrimSuffix(filepath.Base(arguments[0]), ".csv"),
		len(bts.Impressions[0].Documents),
		len(bts.Impressions),
		e.Value,
		e.Low,
		e.High,
		e.EffectiveSize,
		e.LargestWeight,
		clicked,
	)
	f, err := os.Create(arguments[2])
	if err != nil {
		return err
	}
	defer f.Close()
	return cmp.Or(clicks.Write(f, bts), f.Close())
}

// readBandit reads a log with a feature that is the same for all items.
func readBandit(path string) (*clicks.Log, error) {
	l, err := clicks.Read(path)
	if err != nil {
		return nil, err
	}
	l.FeatureIDs = []int{1}
	for i := range l.Impressions {
		im := &l.Impressions[i]
		im.Features = slices.Repeat([]float32{1}, len(im.Documents))
	}
	return l, nil
}

// speed writes a log of impressions, each of a query of its own with 125 documents and 10
// shown, to a file, and evaluates it from there.
func speed(arguments []string) error {
	if len(arguments) != 2 {
		return errArguments
	}
	n, err := strconv.Atoi(arguments[1])
	if err != nil {
		return err
	}
	if err := os.MkdirAll(arguments[0], 0o777); err != nil {
		return err
	}
	path := filepath.Join(arguments[0], fmt.Sprintf("log%d.jsonl", n))
	if err := writeLong(path, n); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	byQuery := func(im *clicks.Impression) string { return im.Query }
	e, err := clicks.NewEvaluation(clicks.Target{Policy: target, Baseline: clicks.Logged, Bias: clicks.Bias{Alpha: theta(10)}, Unit: byQuery})
	if err != nil {
		return err
	}
	start, used := time.Now(), processorTime()
	if _, err = clicks.Scan([]string{path}, e.Add); err != nil {
		return err
	}
	estimates, err := e.Estimates()
	if err != nil {
		return err
	}
	taken, worked := time.Since(start), processorTime()-used
	fmt.Println("impressions,MB,estimators,seconds,processor seconds,cores,most MB of memory")
	fmt.Printf(
		"%d,%d,%d,%.1f,%.1f,%d,%d\n",
		n,
		info.Size()>>20,
		len(estimates),
		taken.Seconds(),
		worked.Seconds(),
		runtime.GOMAXPROCS(0),
		mostMemory()>>20,
	)
	return nil
}

// writeLong writes the log in parts.
func writeLong(path string, n int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	const part = 10000
	for from := 0; from < n; from += part {
		d := made(part, 125, uint64(from))
		l, err := clicks.Simulate(d, logger(10), user(10), min(part, n-from), uint64(from))
		if err != nil {
			return err
		}
		for i := range l.Impressions {
			im := &l.Impressions[i]
			im.ID, im.Query = strconv.Itoa(from+i), fmt.Sprint(from+i, " is new")
		}
		if err := clicks.Write(f, l); err != nil {
			return err
		}
	}
	return f.Close()
}

// processorTime and mostMemory measure this process until now.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func mostMemory() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Maxrss << 10
}
