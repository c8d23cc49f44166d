// Command judges measures package judges on labels of language models and of people, with systems that it makes: how often intervals
// hold, and how much smaller errors are than those of other ways to choose as many pairs.
//
//	go run ./judges -data ../../shared/data/judges
//	go run ./judges -train ../../shared/data/MQ2008
package main

import (
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/judges"
	"github.com/plrank/plrank/lab/internal/csvfile"
	"github.com/plrank/plrank/metrics"
)

var (
	simulations = flag.Int("simulations", 1000, "draws of each setting")
	metric      = flag.String("metric", "dcg@10", "metric")
)

var judgeFiles = []string{"Olz-gpt4o", "NISTRetrieval-reason0", "TREMA-CoT"}

func main() {
	log.SetFlags(0)
	data := flag.String("data", "../../shared/data/judges", "folder with human.qrels and those of the judges")
	training := flag.String("train", "", "folder of MQ2008, to train on labels of made judges instead")
	flag.Parse()
	if *training != "" {
		trainOnJudges(*training)
		return
	}
	people, err := datasets.ReadQrels(filepath.Join(*data, "human.qrels"))
	check(err)
	rows := [][]string{{"judge", "judgements", "way", "held", "held by people", "bias in standard errors", "error", "error of people"}}
	ratios := [][]string{{"judgements", "to people at random", "to the judge and people at random", "to depth-k and the judge"}}
	for _, budget := range []int{30, 60, 100, 200, 300} {
		var sums [4]float64
		for _, name := range judgeFiles {
			judge, err := datasets.ReadQrels(filepath.Join(*data, name+".qrels"))
			check(err)
			var chosen, random, depth result
			for pair := range uint64(4) {
				p := newProblem(judge, people, pair)
				c, r := p.simulate(judges.Probabilities(p.unknown, budget)), p.simulate(p.atRandom(budget))
				d := p.depth(budget)
				chosen.join(c)
				random.join(r)
				depth.errors = append(depth.errors, d.errors...)
				for i, v := range []float64{rms(c.errors), rms(r.people), rms(r.errors), rms(d.errors)} {
					sums[i] += v
				}
			}
			rows = append(rows, chosen.row(name, budget, "chosen"), random.row(name, budget, "random"))
		}
		ratios = append(ratios, []string{fmt.Sprint(budget), ratio(sums[0], sums[1]), ratio(sums[0], sums[2]), ratio(sums[0], sums[3])})
	}
	check(csvfile.Write("judges/coverage.csv", rows))
	check(csvfile.Write("judges/ratios.csv", ratios))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func ratio(a, b float64) string { return fmt.Sprintf("%.2f", a/b) }

func rms(values []float64) float64 { return floats.Norm(values, 2) / math.Sqrt(float64(len(values))) }

// problem is the difference of two systems.
type problem struct {
	all, unknown []judges.Pair // with and without what people say
	truth, judge float64
	ranks        []int // the best of the two of every pair, from 0
}

// newProblem makes two systems near each other: their scores are people's grades, the judge's and chance, and the second goes by the
// judge's a bit more.
func newProblem(judge, people *datasets.Dataset, seed uint64) *problem {
	m, err := metrics.ParseMeasure(*metric)
	check(err)
	r := rand.New(rand.NewPCG(seed, 1))
	p, base := &problem{}, make([]float64, judge.Rows())
	for row, label := range judge.Labels {
		base[row] = .5*float64(people.Labels[row]) + .3*float64(label) + r.NormFloat64()
	}
	for system, sign := range []float64{1, -1} {
		scores := make([]float64, judge.Rows())
		for row, label := range judge.Labels {
			scores[row] = base[row] + .3*float64(system)*float64(label) + .5*r.NormFloat64()
		}
		in := metrics.Queries{Scores: scores, Labels: judge.Labels, Offsets: judge.Offsets}
		l, err := m.Linearize(in)
		check(err)
		in.Labels = people.Labels
		truth, err := m.Linearize(in)
		check(err)
		queries := float64(judge.Queries())
		p.judge += sign * floats.Sum(l.PerQuery) / queries
		p.truth += sign * floats.Sum(truth.PerQuery) / queries
		if p.all == nil {
			p.all, p.ranks = make([]judges.Pair, judge.Rows()), make([]int, judge.Rows())
		}
		for row := range p.all {
			p.all[row].Weight += sign * l.Weights[row] / queries
			p.all[row].Grade, p.all[row].Judge, p.all[row].People = int(judge.Labels[row]), l.Values[row], truth.Values[row]
		}
		for q := range judge.Queries() {
			first, end := judge.Offsets[q], judge.Offsets[q+1]
			order := make([]int, end-first)
			minus := make([]float64, end-first)
			floats.SubTo(minus, minus, scores[first:end])
			floats.Argsort(minus, order)
			for rank, d := range order {
				if row := first + d; system == 0 || rank < p.ranks[row] {
					p.ranks[row] = rank
				}
			}
		}
	}
	for _, pair := range p.all {
		pair.People = math.NaN()
		p.unknown = append(p.unknown, pair)
	}
	return p
}

// atRandom returns equal probabilities for the pairs that a system shows.
func (p *problem) atRandom(budget int) []float64 {
	probabilities, shown := make([]float64, len(p.all)), 0.0
	for _, rank := range p.ranks {
		if rank < 10 {
			shown++
		}
	}
	for i, rank := range p.ranks {
		if rank < 10 {
			probabilities[i] = min(1, float64(budget)/shown)
		}
	}
	return probabilities
}

type result struct {
	errors, people   []float64
	biases           []float64 // in standard errors
	held, heldPeople int
}

func (r *result) join(o result) {
	r.errors, r.people, r.biases = append(r.errors, o.errors...), append(r.people, o.people...), append(r.biases, o.biases...)
	r.held, r.heldPeople = r.held+o.held, r.heldPeople+o.heldPeople
}

func (r result) row(judge string, budget int, way string) []string {
	n := float64(len(r.errors))
	return []string{
		judge,
		fmt.Sprintf("%d", budget),
		way,
		fmt.Sprintf("%.3f", float64(r.held)/n),
		fmt.Sprintf("%.3f", float64(r.heldPeople)/n),
		fmt.Sprintf("%.1f", slices.Max(r.biases)),
		fmt.Sprintf("%.3f", rms(r.errors)),
		fmt.Sprintf("%.3f", rms(r.people)),
	}
}

// simulate draws pairs with these probabilities again and again.
func (p *problem) simulate(probabilities []float64) (r result) {
	for seed := range uint64(*simulations) {
		pairs := slices.Clone(p.unknown)
		for i, drawn := range judges.Draw(probabilities, seed) {
			if drawn {
				pairs[i].People, pairs[i].Probability, pairs[i].Round = p.all[i].People, probabilities[i], 1
			}
		}
		both, people, err := judges.ByPairs(p.judge, pairs)
		check(err)
		r.errors, r.people = append(r.errors, both.Value-p.truth), append(r.people, people.Value-p.truth)
		if low, high := both.Interval(.95); low <= p.truth && p.truth <= high {
			r.held++
		}
		if low, high := people.Interval(.95); low <= p.truth && p.truth <= high {
			r.heldPeople++
		}
	}
	mean, sd := stat.MeanStdDev(r.errors, nil)
	r.biases = []float64{math.Abs(mean) / (sd / math.Sqrt(float64(*simulations)))}
	return r
}

// depth judges the pairs of the first ranks, of the last of them at random, and believes the judge of others.
func (p *problem) depth(budget int) (r result) {
	random := rand.New(rand.NewPCG(1, 2))
	for range *simulations {
		value, order := p.judge, random.Perm(len(p.all))
		slices.SortStableFunc(order, func(a, b int) int { return p.ranks[a] - p.ranks[b] })
		for _, i := range order[:min(budget, len(order))] {
			value += p.all[i].Weight * (p.all[i].People - p.all[i].Judge)
		}
		r.errors = append(r.errors, value-p.truth)
	}
	return r
}
