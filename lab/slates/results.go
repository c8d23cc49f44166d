package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/lab/internal/csvfile"
	"github.com/plrank/plrank/lab/internal/markdown"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/plackett"
)

// measures judge all; the first one chooses on validation. ils is the mean cosine of the intents of two documents.
var measures = []string{"alpha-ndcg@20", "err-ia@20", "ndcg@20", "ils@20"}

// chosen are rows whose last setting is chosen on validation, seed by seed and fold by fold: the weight of similarity, or how much MMR
// diversifies the scores of a loss, 1 not at all.
var chosen = []struct {
	name    string
	losses  []string
	lambdas []float64
}{
	{"NDCG + similarity", []string{"NDCG", "NDCG + .05 similarity", "NDCG + .2 similarity", "NDCG + .5 similarity"}, []float64{1}},
	{"NDCG, MMR", []string{"NDCG"}, lambdas},
	{"softmax, MMR", []string{"softmax"}, lambdas},
	{"lambdarank, MMR", []string{"lambdarank"}, lambdas},
	{"α-nDCG, MMR", []string{"α-nDCG"}, lambdas},
}

var lambdas = []float64{1, .98, .95, .9, .8, .7, .5, .3}

// reranked is how many documents MMR sees.
const reranked = 50

// perQuery has the values of the queries of all folds by measure, sums over the seeds.
type perQuery map[string][]float64

// measure measures all scores and writes the tables.
func measure(context.Context) error {
	rows := [][]string{append([]string{"trained on", "fold", "seed"}, measures...)}
	values := map[string]perQuery{}
	for fold := range parts {
		s, err := splits(fold)
		if err != nil {
			return err
		}
		for seed := 1; seed <= *seeds; seed++ {
			add := func(name string, measured map[string][]float64) {
				if values[name] == nil {
					values[name] = perQuery{}
				}
				row := []string{name, strconv.Itoa(fold + 1), strconv.Itoa(seed)}
				for _, m := range measures {
					if seed == 1 {
						values[name][m] = append(values[name][m], make([]float64, len(measured[m]))...)
					}
					floats.Add(values[name][m][len(values[name][m])-len(measured[m]):], measured[m])
					row = append(row, fmt.Sprintf("%.5f", stat.Mean(measured[m], nil)))
				}
				rows = append(rows, row)
			}
			for _, l := range losses {
				measured, err := measureLoss(l.name, s.Test, "test", fold, seed, 1)
				if err != nil {
					return err
				}
				add(l.name, measured)
			}
			for _, c := range chosen {
				best, most := map[string][]float64(nil), math.Inf(-1)
				for _, loss := range c.losses {
					for _, lambda := range c.lambdas {
						vali, err := measureLoss(loss, s.Vali, "vali", fold, seed, lambda)
						if err != nil {
							return err
						}
						if v := stat.Mean(vali[measures[0]], nil); v > most {
							most = v
							if best, err = measureLoss(loss, s.Test, "test", fold, seed, lambda); err != nil {
								return err
							}
						}
					}
				}
				add(c.name, best)
			}
		}
	}
	return tables(rows, values)
}

// measureLoss measures the scores of a training, diversified by MMR.
func measureLoss(loss string, d *datasets.Dataset, split string, fold, seed int, lambda float64) (map[string][]float64, error) {
	path := scoresPath(loss, split, fold, seed)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	lines := strings.Fields(string(text))
	if len(lines) != d.Rows() {
		return nil, fmt.Errorf("%s: %d scores for %d documents", path, len(lines), d.Rows())
	}
	in := metrics.Queries{Scores: make([]float64, len(lines)), Labels: d.Labels, Offsets: d.Offsets, Intents: d.Intents,
		DocumentIDs: d.DocumentIDs}
	for i, line := range lines {
		if in.Scores[i], err = strconv.ParseFloat(line, 64); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
	}
	for q := range d.Queries() {
		if lambda < 1 {
			if err := diversify(d, q, in.Scores[d.Offsets[q]:d.Offsets[q+1]], lambda); err != nil {
				return nil, err
			}
		}
	}
	values := map[string][]float64{}
	for _, name := range measures {
		m, err := metrics.ParseMeasure(name)
		if err != nil {
			return nil, err
		}
		if values[name], err = m.PerQuery(in); err != nil {
			return nil, err
		}
		for q, v := range values[name] {
			if math.IsNaN(v) { // ils of documents without intents
				values[name][q] = 0
			}
		}
	}
	return values, nil
}

// diversify ranks the first documents of a query by MMR: scores from 0 to 1, and features less their mean in the query, in units of
// their deviation.
func diversify(d *datasets.Dataset, q int, scores []float64, lambda float64) error {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return -compare(scores[a], scores[b]) })
	first, width := order[:min(reranked, len(order))], d.Width()
	own, vectors := make([]float64, len(first)), make([]float64, len(first)*width)
	for c := range width {
		column := make([]float64, len(scores))
		for i := range column {
			column[i] = float64(d.Features[(d.Offsets[q]+i)*width+c])
		}
		mean, deviation := stat.MeanStdDev(column, nil)
		for i, row := range first {
			if deviation > 0 {
				vectors[i*width+c] = (column[row] - mean) / deviation
			}
		}
	}
	highest, lowest := scores[first[0]], scores[first[len(first)-1]]
	for i, row := range first {
		own[i] = (scores[row] - lowest) / max(highest-lowest, 1e-300)
	}
	offsets := make([]float64, len(first))
	if err := plackett.Diversify(own, vectors, width, lambda, nil, offsets); err != nil {
		return err
	}
	floats.Add(own, offsets)
	above := highest - slices.Min(own) + 1 // of the others
	for i, row := range first {
		scores[row] = own[i] + above
	}
	return nil
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// tables prints the means, and the tests of α-nDCG's loss against all others: paired by query, means over the seeds, by Holm's
// method over all rows and measures.
func tables(rows [][]string, values map[string]perQuery) error {
	names := make([]string, 0, len(losses)+len(chosen))
	for _, l := range losses {
		names = append(names, l.name)
	}
	for _, c := range chosen {
		names = append(names, c.name)
	}
	own := names[0]
	var text strings.Builder
	fmt.Fprintf(&text, "| trained on | %s |\n|%s\n", strings.Join(measures, " | "), strings.Repeat("---|", 1+len(measures)))
	var ps []float64
	var tests []metrics.Test
	for _, name := range names[1:] {
		for _, m := range measures {
			t, err := metrics.PairedT(values[own][m], values[name][m])
			if err != nil {
				return err
			}
			tests, ps = append(tests, t), append(ps, t.PValue)
		}
	}
	adjusted, err := metrics.Holm(ps)
	if err != nil {
		return err
	}
	for i, name := range names {
		fmt.Fprintf(&text, "| %s |", name)
		for j, m := range measures {
			mark := ""
			if at := (i-1)*len(measures) + j; i > 0 && adjusted[at] < .05 {
				mark = map[bool]string{true: " −", false: " +"}[tests[at].Difference > 0]
			}
			fmt.Fprintf(&text, " %.4f ± %.4f%s |", stat.Mean(values[name][m], nil)/float64(*seeds), deviation(rows, name, 3+j), mark)
		}
		text.WriteString("\n")
	}
	for i, t := range tests {
		fmt.Printf("%s, %s: %+.4f, p %.3g, %.3g adjusted\n", names[1+i/len(measures)], measures[i%len(measures)],
			t.Difference/float64(*seeds), t.PValue, adjusted[i])
	}
	fmt.Print(text.String())
	if *write == "" {
		return nil
	}
	page, err := os.ReadFile(*write)
	if err != nil {
		return err
	}
	replaced, err := markdown.Replace(string(page), "slates/means", text.String())
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(*write, []byte(replaced), 0o666), csvfile.Write("slates/runs.csv", rows))
}

// deviation is the standard deviation over the seeds of the mean over the folds.
func deviation(rows [][]string, name string, column int) float64 {
	sums := make([]float64, *seeds)
	for _, row := range rows[1:] {
		if row[0] == name {
			seed, err := strconv.Atoi(row[2])
			v, bad := strconv.ParseFloat(row[column], 64)
			if err != nil || bad != nil {
				panic(errors.Join(err, bad)) // which measure wrote
			}
			sums[seed-1] += v / parts
		}
	}
	_, sd := stat.MeanStdDev(sums, nil)
	return sd
}
