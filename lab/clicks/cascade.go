package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/train"
)

// leaving are the users of LightGBM's own test of positions (tests/python_package_test/test_engine.py): they
// go down the ranking, click by attraction, and leave after each document with probability .2.
func leaving(attraction, clicked []float64, random func() float64) {
	clear(clicked)
	for k, a := range attraction {
		if random() < a {
			clicked[k] = 1
		}
		if random() < .2 {
			return
		}
	}
}

// labelled is the attraction in that test.
func labelled(label float32) float64 { return []float64{.4, .6, .7, .8, .9}[int(label)] }

// byFeature34 draws ten documents from twice the standardised feature 34, by which that test sorts.
func byFeature34(d *datasets.Dataset) clicks.Logger {
	column := slices.Index(d.FeatureIDs, 34)
	values := make([]float64, d.Rows())
	for r := range values {
		values[r] = float64(d.Features[r*d.Width()+column])
	}
	mean, sd := stat.MeanStdDev(values, nil)
	for r := range values {
		values[r] = 2 * (values[r] - mean) / sd
	}
	return clicks.Logger{Scores: func(d *datasets.Dataset, q int) ([]float64, error) {
		return values[d.Offsets[q]:d.Offsets[q+1]], nil
	}}
}

// cascade trains on such clicks on LightGBM's lambdarank example, and writes the logs for gbm.py.
func cascade(arguments []string) error {
	flags := flag.NewFlagSet("cascade", flag.ExitOnError)
	data := flags.String("data", "", "`folder` of LightGBM's lambdarank example")
	out := flags.String("out", "", "`folder` for the logs")
	seeds := flags.Uint64("seeds", 20, "`number` of seeds")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if *data == "" || *out == "" || flags.NArg() > 0 {
		return errArguments
	}
	s, err := datasets.Open(*data, datasets.Options{Vali: filepath.Join(*data, "rank.test")}) // nothing is held out; it is not used
	if err != nil {
		return err
	}
	if err := os.MkdirAll(*out, 0o777); err != nil {
		return err
	}
	fmt.Println("impressions,seed,system,method,ndcg@3")
	for _, n := range []int{201, 2010, 20100} {
		for seed := range *seeds {
			p := &production{seed: seed, train: s.Train, test: s.Test}
			l, err := clicks.Simulate(s.Train, byFeature34(s.Train), clicks.User{Attraction: labelled, Behaviour: leaving}, n, seed)
			if err != nil {
				return err
			}
			if err := writeRows(filepath.Join(*out, fmt.Sprintf("%d-%d.csv", n, seed)), s.Train, l); err != nil {
				return err
			}
			if err := p.compare(l); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare prints the NDCG@3 of what is learned by several estimators. "dr with true bias" is told that rank k is
// examined with probability .8^(k−1); the others have the bias from the log.
func (p *production) compare(l *clicks.Log) error {
	var truth clicks.Bias
	for k := range l.Impressions[0].Cutoff {
		truth.Alpha = append(truth.Alpha, math.Pow(.8, float64(k)))
	}
	estimated, _, err := clicks.EstimateBias(l, clicks.AllPairs)
	if err != nil {
		return err
	}
	for _, m := range []struct {
		name      string
		estimator clicks.Estimator
		bias      clicks.Bias
	}{{"naive", clicks.Naive, truth}, {"policy-aware", clicks.PolicyAware, estimated}, {"dr", clicks.DR, estimated}, {"dr with true bias", clicks.DR, truth}} {
		gains, err := clicks.Gains(l, m.bias, m.estimator)
		if err != nil {
			return err
		}
		model, _, err := p.fit(gains, baseConfig(gains), train.Custom{})
		if err != nil {
			return err
		}
		v, err := p.measure(model, "ndcg@3")
		if err != nil {
			return err
		}
		fmt.Printf("%d,%d,plrank,%s,%.4f\n", len(l.Impressions), p.seed, m.name, v)
	}
	return nil
}

// writeRows writes a log as rows of the training file: its line, from 0, rank from 0, and click.
func writeRows(path string, d *datasets.Dataset, l *clicks.Log) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	first := map[string]int{}
	for q, id := range d.QueryIDs {
		first[id] = d.Offsets[q]
	}
	fmt.Fprintln(f, "impression,row,rank,click")
	for i, im := range l.Impressions {
		for k, document := range im.Shown {
			if _, err := fmt.Fprintf(f, "%d,%d,%d,%g\n", i, first[im.Query]+document, k, im.Clicks[k]); err != nil {
				return err
			}
		}
	}
	return f.Close()
}
