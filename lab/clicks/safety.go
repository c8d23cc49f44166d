package main

import (
	"flag"
	"fmt"
	"math"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/plackett"
	"github.com/plrank/plrank/train"
)

// safety trains the ranker further on 100 impressions of its own, with and without the losses that
// keep a policy near the one of the log, and prints the expected DCG@5 of the policy on the test
// split, over the ranker's. Adversarial users click a document of attraction a as if it had 1 − a.
func safety(arguments []string) error {
	flags := flag.NewFlagSet("safety", flag.ExitOnError)
	data := flags.String("data", "", "`folder` of the collection")
	name := flags.String("name", "", "of the collection in the table")
	seeds := flags.Uint64("seeds", 20, "`number` of seeds")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if *data == "" || flags.NArg() > 0 {
		return errArguments
	}
	fmt.Println("data,seed,users,loss,ranker,chosen,last,chosen over ranker,last over ranker")
	for seed := range *seeds {
		p, err := newProduction(*data, seed)
		if err != nil {
			return err
		}
		p.temperature = 1 // so that training begins with the policy of the log
		former, err := p.measure(p.model, "expected-dcg@5")
		if err != nil {
			return err
		}
		attraction := byGrade(p.train)
		for _, users := range []string{"adversarial", "position-based"} {
			u := clicks.User{Behaviour: clicks.PositionBased(baidu.Alpha), Attraction: attraction}
			if users == "adversarial" {
				u.Attraction = func(label float32) float64 { return 1 - attraction(label) }
			}
			l, err := p.log(u, 100)
			if err != nil {
				return err
			}
			for _, loss := range []string{"plrank-exact", "plrank-exact+exposure-risk(0.95)", "prpo(0.9)"} {
				chosen, last, err := p.further(l, loss)
				if err != nil {
					return err
				}
				fmt.Printf("%s,%d,%s,%s,%.4f,%.4f,%.4f,%.4f,%.4f\n", *name, seed, users, loss, former, chosen, last, chosen/former, last/former)
			}
		}
	}
	return nil
}

// further is the expected DCG@5 after the ranker is trained on a log, without dropout and at a tenth of
// the rate: of the epoch that is chosen on a fifth of the queries, among which is the ranker as it was, and of the last one.
func (p *production) further(l *clicks.Log, loss string) (chosen, last float64, err error) {
	gains, err := clicks.Gains(l, baidu, clicks.DR)
	if err != nil {
		return 0, 0, err
	}
	c := baseConfig(p.train)
	c.Loss, c.Dropout = loss, 0
	c.LearningRate /= 10
	best, final, err := p.fit(gains, c, train.Custom{Initial: p.model})
	if err != nil {
		return 0, 0, err
	}
	if chosen, err = p.measure(best, "expected-dcg@5"); err != nil {
		return 0, 0, err
	}
	last, err = p.measure(final, "expected-dcg@5")
	return chosen, last, err
}

// gate prints how many of 200 models pass the gate of plrank clicks evaluate -require 0: those
// that are worse and better by a known part of the value of the log's policy, 200 queries of 20
// documents at 5 ranks, with position bias 1/k.
func gate([]string) error {
	d := made(200, 20, 1)
	former, err := worthOf(d, func(f float64) float64 { return 2 * f })
	if err != nil {
		return err
	}
	fmt.Println("impressions,true difference,simulations,passed")
	for _, n := range []int{250, 500, 1000, 2000} {
		for _, better := range []float64{-.05, -.01, 0, .05} {
			slope, err := slopeFor(d, former*(1+better))
			if err != nil {
				return err
			}
			passed := 0
			for seed := range uint64(200) {
				ok, err := passes(d, other(slope), n, seed)
				if err != nil {
					return err
				}
				if ok {
					passed++
				}
			}
			fmt.Printf("%d,%+.0f %%,200,%d\n", n, 100*better, passed)
		}
	}
	return nil
}

// other is a policy that disagrees with the log's on single documents.
func other(slope float64) func(feature float64) float64 {
	return func(f float64) float64 { return slope*f + math.Sin(40*f) }
}

// slopeFor returns the slope of the other policy with the value wanted.
func slopeFor(d *datasets.Dataset, want float64) (float64, error) {
	low, high := 0., 20.
	for range 40 {
		slope := (low + high) / 2
		v, err := worthOf(d, other(slope))
		if err != nil {
			return 0, err
		}
		if v < want {
			low = slope
		} else {
			high = slope
		}
	}
	return low, nil
}

// worthOf is the true value of a policy: clicks an impression.
func worthOf(d *datasets.Dataset, score func(feature float64) float64) (value float64, err error) {
	var e plackett.Expectation
	for q := range d.Queries() {
		from, to := d.Offsets[q], d.Offsets[q+1]
		v, err := e.Gradient(scoresBy(d.Features[from:to], score), scaled(d.Labels[from:to], 1), theta(5), make([]float64, to-from))
		if err != nil {
			return 0, err
		}
		value += v / float64(d.Queries())
	}
	return value, nil
}

func scoresBy(features []float32, score func(feature float64) float64) (scores []float64) {
	for _, f := range features {
		scores = append(scores, score(float64(f)))
	}
	return scores
}

// passes is what the command decides: IIPS, intervals over queries, an effective size of 100.
func passes(d *datasets.Dataset, score func(feature float64) float64, n int, seed uint64) (bool, error) {
	l, err := clicks.Simulate(d, logger(5), user(5), n, seed)
	if err != nil {
		return false, err
	}
	e, err := clicks.Evaluate(l, clicks.Target{
		Policy:    func(im *clicks.Impression) ([]float64, error) { return scoresBy(im.Features, score), nil },
		Baseline:  clicks.Logged,
		Unit:      func(im *clicks.Impression) string { return im.Query },
		Bootstrap: metrics.Bootstrap{Seed: seed},
	}, clicks.IIPS)
	if err != nil {
		return false, err
	}
	return e[0].Difference.Low > 0 && e[0].EffectiveSize >= 100, nil
}
