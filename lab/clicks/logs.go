package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
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
// Bandit Dataset (Saito et al. 2020), and prints the clicks of the log of the uniform policy
// beside. Each row is one item, shown with a probability that is known; so it is an impression of
// two candidates, the item and all others.
func openBandit(arguments []string) error {
	if len(arguments) != 2 {
		return errArguments
	}
	bts, items, err := readBandit(arguments[0])
	if err != nil {
		return err
	}
	random, _, err := readBandit(arguments[1])
	if err != nil {
		return err
	}
	uniform := func(*clicks.Impression) ([]float64, error) { return oneOf(1 / float64(items)), nil }
	estimates, err := clicks.Evaluate(bts, clicks.Target{Policy: uniform}, clicks.IIPS)
	if err != nil {
		return err
	}
	clicked := 0.0
	for _, im := range random.Impressions {
		clicked += im.Clicks[0] / float64(len(random.Impressions))
	}
	e := estimates[0]
	fmt.Printf("uniform policy over %d items: %.6f (%.6f to %.6f) from the other's log, effective size %.1f, largest weight %.1f; %.6f on its own\n",
		items, e.Value, e.Low, e.High, e.EffectiveSize, e.LargestWeight, clicked)
	return nil
}

// oneOf are the scores of an item shown with probability p, and of all others.
func oneOf(p float64) []float64 { return []float64{math.Log(p), math.Log1p(-p)} }

func readBandit(path string) (l *clicks.Log, items int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, 0, err
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	l = &clicks.Log{}
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		p, err := strconv.ParseFloat(row[column["propensity_score"]], 64)
		if err != nil {
			return nil, 0, err
		}
		click, err := strconv.ParseFloat(row[column["click"]], 64)
		if err != nil {
			return nil, 0, err
		}
		item := row[column["item_id"]]
		seen[item] = true
		l.Impressions = append(l.Impressions, clicks.Impression{ID: strconv.Itoa(len(l.Impressions)), Documents: []string{item, "others"},
			Scores: oneOf(p), Cutoff: 1, Shown: []int{0}, Clicks: []float64{click}})
	}
	return l, len(seen), nil
}

// speed evaluates 20,000 impressions of as many queries of 125 documents.
func speed([]string) error {
	const n = 20000
	l, err := clicks.Simulate(made(n, 125, 1), logger(10), user(10), n, 1)
	if err != nil {
		return err
	}
	// Queries of their own, as after reading a log in which none comes back.
	start := time.Now()
	estimates, err := clicks.Evaluate(l, clicks.Target{Policy: target, Bias: clicks.Bias{Alpha: theta(10)}})
	if err != nil {
		return err
	}
	taken := time.Since(start)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("%d estimates in %.1f s, %.0f µs an impression on %d cores; %d MB from the system\n", len(estimates), taken.Seconds(), taken.Seconds()*1e6/n, runtime.GOMAXPROCS(0), m.Sys>>20)
	return nil
}
