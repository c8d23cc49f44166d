package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/datasets"
)

// made is queries whose labels are uniform in [0, 1], the probability of attraction, and have
// a feature with noise of standard deviation .3.
func made(queries, documents int, seed uint64) *datasets.Dataset {
	d := &datasets.Dataset{Offsets: []int{0}, FeatureIDs: []int{1}}
	random := rand.New(rand.NewPCG(seed, 0))
	for q := range queries {
		for range documents {
			label := random.Float32()
			d.Labels = append(d.Labels, label)
			d.Features = append(d.Features, label+.3*float32(random.NormFloat64()))
		}
		d.QueryIDs = append(d.QueryIDs, strconv.Itoa(q+1))
		d.Offsets = append(d.Offsets, len(d.Labels))
	}
	return d
}

// logger draws from scores of twice the feature, for the given number of ranks.
func logger(cutoff int) clicks.Logger {
	return clicks.Logger{Cutoff: cutoff, Scores: func(d *datasets.Dataset, q int) ([]float64, error) {
		return scaled(d.Features[d.Offsets[q]:d.Offsets[q+1]], 2), nil
	}}
}

func scaled(features []float32, by float64) (scores []float64) {
	for _, f := range features {
		scores = append(scores, by*float64(f))
	}
	return scores
}

// target draws from scores of four times the feature.
func target(im *clicks.Impression) ([]float64, error) { return scaled(im.Features, 4), nil }

// user examines rank k with probability 1/k.
func user(cutoff int) clicks.User {
	return clicks.User{Behaviour: clicks.PositionBased(theta(cutoff)), Attraction: func(label float32) float64 { return float64(label) }}
}

func theta(cutoff int) (t []float64) {
	for k := range cutoff {
		t = append(t, 1/float64(k+1))
	}
	return t
}

// bias prints the largest relative error of α over ranks, for Baidu's θ (Hager et al., SIGIR
// 2024, all pairs) and 100,000 impressions of as many queries.
func bias([]string) error {
	truth := []float64{1, .674, .414, .293, .208}
	fmt.Println("seed,method,largest error")
	for seed := range uint64(5) {
		d := made(100000, 20, seed)
		u := user(5)
		u.Behaviour = clicks.PositionBased(truth)
		l, err := clicks.Simulate(d, logger(5), u, 100000, seed)
		if err != nil {
			return err
		}
		for _, m := range clicks.Methods() {
			b, _, err := clicks.EstimateBias(l, m)
			if err != nil {
				return err
			}
			fmt.Printf("%d,%s,%.4f\n", seed, m, farthest(b.Alpha, truth))
		}
	}
	return nil
}

// affine prints the largest relative errors of α and β of the affine model with known relevance
// (Agarwal et al., WWW 2019, as Vardasbi et al., CIKM 2020, have them), and the standard error that
// the Cramér–Rao bound leaves to the smallest β, over it.
func affine([]string) error {
	truth := clicks.Bias{Alpha: []float64{.35, .53, .55, .54, .52}, Beta: []float64{.65, .26, .15, .11, .08}}
	u := user(5)
	u.Behaviour = clicks.AffineClicks(truth)
	fmt.Println("seed,impressions,largest error of alpha,largest error of beta,bound of the last beta")
	for seed := range uint64(5) {
		d := made(100000, 20, seed)
		relevance := make(map[string][]float64)
		for q, id := range d.QueryIDs {
			relevance[id] = scaled(d.Labels[d.Offsets[q]:d.Offsets[q+1]], 1)
		}
		for _, n := range []int{100000, 400000} {
			l, err := clicks.Simulate(d, logger(5), u, n, seed)
			if err != nil {
				return err
			}
			b, _, err := clicks.EstimateAffine(l, func(im *clicks.Impression) ([]float64, error) { return relevance[im.Query], nil })
			if err != nil {
				return err
			}
			var w, wr, wrr float64 // the information about the last rank
			for i := range l.Impressions {
				im := &l.Impressions[i]
				r := relevance[im.Query][im.Shown[4]]
				p := truth.Alpha[4]*r + truth.Beta[4]
				w, wr, wrr = w+1/(p*(1-p)), wr+r/(p*(1-p)), wrr+r*r/(p*(1-p))
			}
			fmt.Printf(
				"%d,%d,%.4f,%.4f,%.4f\n",
				seed,
				n,
				farthest(b.Alpha, truth.Alpha),
				farthest(b.Beta, truth.Beta),
				math.Sqrt(wrr/(w*wrr-wr*wr))/truth.Beta[4],
			)
		}
	}
	return nil
}

// again estimates the bias from 100,000 impressions of 50 queries, which toolkit.py then does from the same log.
func again(arguments []string) error {
	if len(arguments) != 1 {
		return errArguments
	}
	d := made(50, 20, 1)
	u := user(5)
	u.Behaviour = clicks.PositionBased(baidu.Alpha)
	l, err := clicks.Simulate(d, logger(5), u, 100000, 1)
	if err != nil {
		return err
	}
	if err := writeRows(filepath.Join(arguments[0], "again.csv"), d, l); err != nil {
		return err
	}
	fmt.Println("estimate,rank 1,rank 2,rank 3,rank 4,rank 5")
	printBias("truth", baidu.Alpha)
	for _, m := range clicks.Methods() {
		b, _, err := clicks.EstimateBias(l, m)
		if err != nil {
			return err
		}
		printBias("plrank "+string(m), b.Alpha)
	}
	return nil
}

func printBias(name string, alpha []float64) {
	fmt.Printf("%s,%.3f,%.3f,%.3f,%.3f,%.3f\n", name, alpha[0], alpha[1], alpha[2], alpha[3], alpha[4])
}

// farthest is the largest relative error.
func farthest(got, want []float64) (most float64) {
	for k, w := range want {
		most = max(most, got[k]/w-1, 1-got[k]/w)
	}
	return most
}

var errArguments = errors.New("wrong number of arguments; see the package comment")
