package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/plackett"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// baidu is the position bias of Baidu-ULTR at the ranks shown (Hager et al., SIGIR 2024, all pairs).
var baidu = clicks.Bias{Alpha: []float64{1, .674, .414, .293, .208}}

// A production is a ranker that was trained on few labels, and its users.
type production struct {
	seed        uint64
	train, test *datasets.Dataset
	model       *ranker.Model
	temperature float64 // the standard deviation of the model's scores over the training documents
}

// newProduction trains the ranker on 1 % of the training queries, drawn by the seed from those
// with a relevant document. A folder of folds gives fold seed+1.
func newProduction(data string, seed uint64) (*production, error) {
	o := datasets.Options{Fold: int(seed%5) + 1}
	if _, err := os.Stat(filepath.Join(data, "Fold1")); err != nil {
		o = datasets.Options{Vali: filepath.Join(data, "rank.test")} // so that no training queries are held out; it is not used
	}
	s, err := datasets.Open(data, o)
	if err != nil {
		return nil, err
	}
	p := &production{seed: seed, train: s.Train, test: s.Test}
	var few []int
	for _, q := range rand.New(rand.NewPCG(seed, 1)).Perm(s.Train.Queries()) {
		labels := s.Train.Labels[s.Train.Offsets[q]:s.Train.Offsets[q+1]]
		if len(few)*100 < s.Train.Queries() && slices.Max(labels) > slices.Min(labels) {
			few = append(few, q)
		}
	}
	c := baseConfig(s.Train)
	c.Seed, c.Metric, c.NormalizeGains = seed, "expected-ndcg@5", true
	judged := s.Train.Select(few)
	r, err := train.Run(context.Background(), c, &datasets.Splits{Train: judged, Vali: judged}, train.Hooks{})
	if err != nil {
		return nil, err
	}
	scores, err := datasets.Score(r.Model, s.Train)
	if err != nil {
		return nil, err
	}
	p.model, p.temperature = r.Model, stat.StdDev(scores, nil)
	return p, nil
}

// baseConfig is the default recipe with one network, K = 5, and what plrank train -clicks changes.
func baseConfig(d *datasets.Dataset) train.Config {
	c := recipe.Single("mlp", &datasets.Splits{Train: d, Vali: d}).Models[0]
	c.Members, c.Cutoff = 1, 5
	c.Metric, c.NormalizeGains = train.LossMetric, false
	return c
}

// log is what n impressions of the ranker's Plackett–Luce policy give.
func (p *production) log(u clicks.User, n int) (*clicks.Log, error) {
	scores, err := datasets.Score(p.model, p.train)
	if err != nil {
		return nil, err
	}
	l := clicks.Logger{Temperature: p.temperature, Cutoff: 5, Scores: func(d *datasets.Dataset, q int) ([]float64, error) {
		return scores[d.Offsets[q]:d.Offsets[q+1]], nil
	}}
	return clicks.Simulate(p.train, l, u, n, p.seed)
}

// fit trains on gains, of which a fifth of the queries is held out to choose the epoch, as plrank
// train -clicks does. last is the model after the last epoch.
func (p *production) fit(gains *datasets.Dataset, c train.Config, parts train.Custom) (chosen, last *ranker.Model, err error) {
	s, err := datasets.HoldOut(gains, p.seed)
	if err != nil {
		return nil, nil, err
	}
	c.Seed = p.seed
	t, err := train.New(c, parts, s)
	if err != nil {
		return nil, nil, err
	}
	r, err := t.Run(context.Background(), train.Hooks{})
	if err != nil {
		return nil, nil, err
	}
	last, err = t.Current()
	return r.Model, last, err
}

// perQuery is a metric of a model for the queries of the test split that have a relevant document.
func (p *production) perQuery(m *ranker.Model, name string) ([]float64, error) {
	scores, err := datasets.Score(m, p.test)
	if err != nil {
		return nil, err
	}
	measure, err := metrics.ParseMeasure(name)
	if err != nil {
		return nil, err
	}
	values, err := measure.PerQuery(metrics.Queries{Scores: scores, Labels: p.test.Labels, Offsets: p.test.Offsets})
	return slices.DeleteFunc(values, math.IsNaN), err
}

// measure is its mean.
func (p *production) measure(m *ranker.Model, name string) (float64, error) {
	values, err := p.perQuery(m, name)
	return stat.Mean(values, nil), err
}

// known is the training data with what infinitely many clicks say: the attraction of every document.
func (p *production) known(attraction func(label float32) float64) *datasets.Dataset {
	d := *p.train
	d.Gains = make([]float64, d.Rows())
	for r, l := range d.Labels {
		d.Gains[r] = attraction(l)
	}
	d.Labels = slices.Repeat([]float32{datasets.Unlabelled}, d.Rows())
	return &d
}

// byGrade is (2^label − 1)/(2^highest − 1), as simulated users have it by default.
func byGrade(d *datasets.Dataset) func(label float32) float64 {
	highest := math.Exp2(float64(slices.Max(d.Labels))) - 1
	return func(label float32) float64 { return (math.Exp2(float64(label)) - 1) / highest }
}

// sampledGains returns the gains of dr with exposures from 1,000 rankings of each query in place of
// the exact ones. dr is r̂ + e/max(ᾱ, τ), and dr(1) is r̂ + e, as ᾱ is at most 1: both together give e.
func sampledGains(l *clicks.Log, b clicks.Bias, seed uint64) (*datasets.Dataset, error) {
	const samples = 1000
	clip := min(1, 10/math.Sqrt(float64(len(l.Impressions))))
	d, err := clicks.Gains(l, b, clicks.Estimator(fmt.Sprintf("dr(%g)", clip)))
	if err != nil {
		return nil, err
	}
	unweighted, err := clicks.Gains(l, b, "dr(1)")
	if err != nil {
		return nil, err
	}
	var sampler plackett.Sampler
	for q := range d.Queries() {
		from, to := d.Offsets[q], d.Offsets[q+1]
		impressions := float64(d.QueryWeights[q]) * float64(len(l.Impressions)) / float64(d.Queries())
		scores := make([]float64, to-from)
		for i, s := range d.LoggedScores[from:to] {
			scores[i] = float64(s)
		}
		drawn := plackett.NewRankings(samples, min(len(b.Alpha), to-from))
		if err := sampler.Draw(scores, plackett.Stream{Seed: seed, Query: uint64(q)}, drawn); err != nil {
			return nil, err
		}
		exposure := make([]float64, to-from)
		for i, document := range drawn.Documents {
			exposure[document] += b.Alpha[i%drawn.Cutoff] / samples
		}
		for i, sampled := range exposure {
			exact := max(float64(d.Logged[from+i])/impressions, clip)
			if exact < .999 {
				e := (d.Gains[from+i] - unweighted.Gains[from+i]) / (1/exact - 1)
				d.Gains[from+i] = unweighted.Gains[from+i] + e*(1/max(sampled, clip)-1)
			}
		}
	}
	return d, nil
}
