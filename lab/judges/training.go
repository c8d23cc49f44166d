package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/judges"
	"github.com/plrank/plrank/lab/internal/csvfile"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// lengthColumn is where MQ2008 has the length of the whole document, feature 20.
const lengthColumn = 19

// made are judges made of people's labels: what they do to a label, of a document whose length is a share of the longest.
var made = []struct {
	name  string
	label func(label, length float64) float64
}{
	{"noisy", func(label, _ float64) float64 { return label }},
	{"prefers long texts", func(label, length float64) float64 {
		if length > .5 {
			return label + 1
		} else if length < .15 {
			return label - 1
		}
		return label
	}},
	{"never gives 2", func(label, _ float64) float64 { return min(1, label) }},
}

// trainOnJudges trains linear models and forests on labels of made judges, one label of four being off by one.
func trainOnJudges(folder string) {
	rows := [][]string{{"judge", "pairs by people", "labels", "model", "ndcg@10", "length at the top"}}
	add := func(judge string, people int, labels string, s []*datasets.Splits) {
		for _, kind := range []string{"linear", "forest"} {
			var ndcg, length []float64
			for _, splits := range s {
				n, l := trained(kind, splits)
				ndcg, length = append(ndcg, n), append(length, l)
			}
			pairs := "all"
			if people > 0 || judge != "-" {
				pairs = fmt.Sprint(people)
			}
			rows = append(rows, []string{judge, pairs, labels, kind, fmt.Sprintf("%.4f", stat.Mean(ndcg, nil)),
				fmt.Sprintf("%.3f", stat.Mean(length, nil))})
		}
		check(csvfile.Write("judges/training.csv", rows))
	}
	var truth []*datasets.Splits
	for fold := range 5 {
		s, err := datasets.Open(filepath.Join(folder, fmt.Sprintf("Fold%d", fold+1)), datasets.Options{})
		check(err)
		truth = append(truth, s)
	}
	add("-", 0, "by people", truth)
	for _, judge := range made {
		var naive []*datasets.Splits
		for fold, s := range truth {
			r := rand.New(rand.NewPCG(uint64(fold), 1))
			naive = append(naive, relabelled(s, func(d *datasets.Dataset, row int) float64 {
				label := float64(d.Labels[row])
				if r.Float64() < .25 {
					label += float64(2*r.IntN(2) - 1)
				}
				return max(0, min(2, judge.label(max(0, min(2, label)), float64(d.Row(row)[lengthColumn]))))
			}))
		}
		add(judge.name, 0, "by the judge", naive)
		for _, n := range []int{100, 300, 1000} {
			var ours, few []*datasets.Splits
			for fold, s := range truth {
				a, b := corrected(s, naive[fold], n, uint64(fold))
				ours, few = append(ours, a), append(few, b)
			}
			add(judge.name, n, "expected", ours)
			add(judge.name, n, "by people alone", few)
		}
	}
}

// relabelled returns the splits with other labels for training and validation.
func relabelled(s *datasets.Splits, label func(d *datasets.Dataset, row int) float64) *datasets.Splits {
	change := func(d *datasets.Dataset) *datasets.Dataset {
		changed := *d
		changed.Labels = make([]float32, d.Rows())
		for row := range changed.Labels {
			changed.Labels[row] = float32(label(d, row))
		}
		return &changed
	}
	return &datasets.Splits{Train: change(s.Train), Vali: change(s.Vali), Test: s.Test}
}

// corrected returns the splits with the labels of n pairs by people, drawn at random, and the expected ones for the others; and with 0
// for the others, as TREC counts what is not judged.
func corrected(truth, judge *datasets.Splits, n int, seed uint64) (ours, few *datasets.Splits) {
	type place struct{ split, row int }
	var all []place
	splits, queries := [][2]*datasets.Dataset{{truth.Train, judge.Train}, {truth.Vali, judge.Vali}}, map[place]int{}
	for i, d := range splits {
		for q := range d[0].Queries() {
			for row := d[0].Offsets[q]; row < d[0].Offsets[q+1]; row++ {
				all = append(all, place{i, row})
				queries[place{i, row}] = i<<20 + q
			}
		}
	}
	r := rand.New(rand.NewPCG(seed, 2))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	gain := func(label float32) float64 { return math.Exp2(float64(label)) - 1 }
	known := map[place]bool{}
	var people []float64
	var byQuery []int
	var gains [][]float64
	var features []float32
	for _, p := range all[:n] {
		d := splits[p.split]
		known[p], people, byQuery = true, append(people, gain(d[0].Labels[p.row])), append(byQuery, queries[p])
		gains, features = append(gains, []float64{gain(d[1].Labels[p.row])}), append(features, d[0].Row(p.row)...)
	}
	g, err := judges.FitGains(people, byQuery, gains, features, truth.Train.Width())
	check(err)
	with := func(rest func(d [2]*datasets.Dataset, row int) float64) *datasets.Splits {
		return relabelled(truth, func(d *datasets.Dataset, row int) float64 {
			i := slices.IndexFunc(splits, func(s [2]*datasets.Dataset) bool { return s[0] == d })
			if known[place{i, row}] {
				return float64(d.Labels[row])
			}
			return rest(splits[i], row)
		})
	}
	return with(func(d [2]*datasets.Dataset, row int) float64 {
		return math.Log2(1 + g.Of([]float64{gain(d[1].Labels[row])}, d[0].Row(row)))
	}), with(func([2]*datasets.Dataset, int) float64 { return 0 })
}

// trained trains a model, and returns its NDCG by people on the test split, and the mean length of the first five documents of a query
// less the mean of all.
func trained(kind string, s *datasets.Splits) (ndcg, length float64) {
	scorer := kind
	if kind == "linear" {
		scorer = "mlp"
	}
	c := recipe.Single(scorer, s).Models[0]
	if kind == "linear" {
		c.Hidden, c.Members = nil, 1
	}
	t, err := train.New(c, train.Custom{}, s)
	check(err)
	result, err := t.Run(context.Background(), train.Hooks{})
	check(err)
	d := s.Test
	scores, err := datasets.Score(result.Model, d)
	check(err)
	m, err := metrics.ParseMeasure("ndcg@10")
	check(err)
	summary, err := metrics.Means(metrics.Queries{Scores: scores, Labels: d.Labels, Offsets: d.Offsets}, []metrics.Measure{m})
	check(err)
	for q := range d.Queries() {
		first, end := d.Offsets[q], d.Offsets[q+1]
		var lengths []float64
		for _, at := range metrics.Rank(scores[first:end]) {
			lengths = append(lengths, float64(d.Row(first + at)[lengthColumn]))
		}
		length += (stat.Mean(lengths[:min(5, len(lengths))], nil) - stat.Mean(lengths, nil)) / float64(d.Queries())
	}
	return summary[0], length
}
