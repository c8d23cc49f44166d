// Command mixtures trains the recipes of networks and the forest on the same data, and says by the validation split which of them, and
// which of their mixtures, is the best, for ../recipe.md. A way to choose shares is judged on queries that did not choose: half of
// the validation queries choose, and the other half are measured, ten times each way. The test split is not used.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

func main() {
	data := flag.String("data", "", "a `folder` with splits")
	categorical := flag.String("categorical", "", "categorical `features`")
	ignore := flag.String("ignore", "", "`features` to leave out")
	seed := flag.Uint64("seed", 1, "`seed` of the trainings")
	flag.Parse()
	if err := run(*data, datasets.ReadOptions{Categorical: words(*categorical), Ignore: words(*ignore)}, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "mixtures:", err)
		os.Exit(1)
	}
}

func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

func run(data string, read datasets.ReadOptions, seed uint64) error {
	if tables, err := filepath.Glob(filepath.Join(data, "*.csv*")); err == nil && tables != nil {
		read.QueryColumn, read.DocumentColumn = "query", "document"
	}
	s, err := datasets.Open(data, datasets.Options{Read: read, Seed: seed, Unlabelled: "drop"})
	if err != nil {
		return err
	}
	e := &evaluation{vali: s.Vali, queries: rand.New(rand.NewPCG(seed, 0))}
	views := recipe.Single("mlp", withoutTables(s)).Models[0]
	table := recipe.Single("mlp", attributes(s.Train.Rows())).Models[0]
	forest := recipe.Single("forest", s).Models[0]
	for _, of := range []struct {
		name   string
		config train.Config
	}{{"views", views}, {"table", table}, {"forest", forest}} {
		of.config.Seed = seed
		result, err := train.Run(context.Background(), of.config, s, train.Hooks{})
		if err != nil {
			return err
		}
		scores, err := datasets.Score(result.Model, s.Vali)
		if err != nil {
			return err
		}
		e.add(of.name, scores)
	}
	for _, models := range [][]int{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}} {
		e.judge(data, models)
	}
	return nil
}

// withoutTables has the number of documents and queries of s, and no features, for the recipe of other data than tables.
func withoutTables(s *datasets.Splits) *datasets.Splits {
	return &datasets.Splits{Train: &datasets.Dataset{Labels: s.Train.Labels, Offsets: s.Train.Offsets}}
}

// attributes has a feature of the query alone, and that number of documents, for the recipe of tables.
func attributes(documents int) *datasets.Splits {
	d := &datasets.Dataset{
		FeatureIDs: []int{1},
		Features:   make([]float32, documents),
		Labels:     make([]float32, documents),
		Offsets:    []int{0, 1, documents},
	}
	d.Features[0] = 1
	return &datasets.Splits{Train: d}
}

// An evaluation has the scores of models on the validation split, with a standard deviation of 1 within queries.
type evaluation struct {
	vali    *datasets.Dataset
	queries *rand.Rand
	names   []string
	scores  [][]float64
}

func (e *evaluation) add(name string, scores []float64) {
	sum := 0.
	for q := range e.vali.Queries() {
		of := scores[e.vali.Offsets[q]:e.vali.Offsets[q+1]]
		if len(of) == 0 {
			continue
		}
		floats.AddConst(-stat.Mean(of, nil), of)
		sum += floats.Dot(of, of)
	}
	floats.Scale(1/math.Sqrt(sum/float64(len(scores))), scores)
	e.names, e.scores = append(e.names, name), append(e.scores, scores)
}

// values returns NDCG@5 by query of a weighted sum of models; NaN: without a relevant document.
func (e *evaluation) values(models []int, shares []float64) []float64 {
	sum := make([]float64, e.vali.Rows())
	for i, m := range models {
		floats.AddScaled(sum, shares[i], e.scores[m])
	}
	ndcg, err := metrics.ParseMeasure("ndcg@5")
	if err != nil {
		panic(err)
	}
	in := metrics.Queries{Scores: sum, Labels: e.vali.Labels, Offsets: e.vali.Offsets, LabelFree: metrics.LabelFreeSkip}
	of, err := metrics.PerQuery(in, []metrics.Measure{ndcg})
	if err != nil {
		panic(err)
	}
	return ndcg.Counted(in, of[0])
}

// judge prints the value of equal shares, and of the two ways to choose them: other quarters if they are better than equal shares by
// more than a standard error, as recipe.Mix had it, and the best quarters.
func (e *evaluation) judge(data string, models []int) {
	n := len(models)
	equal := e.values(models, slices.Repeat([]float64{1 / float64(n)}, n))
	names := make([]string, n)
	for i, m := range models {
		names[i] = e.names[m]
	}
	fmt.Printf("%s,%s,%.4f", data, strings.Join(names, "+"), meanOf(equal, nil))
	if n == 1 {
		fmt.Println(",,")
		return
	}
	var quarters [][]float64
	for _, shares := range num.Divisions(n, 4) {
		quarters = append(quarters, e.values(models, shares))
	}
	byError := func(half []int) []float64 {
		best, most := equal, 0.
		for _, of := range quarters {
			gains := make([]float64, len(of))
			floats.SubTo(gains, of, equal)
			gains = known(gains, half)
			mean, deviation := stat.MeanStdDev(gains, nil)
			if gain := mean - stat.StdErr(deviation, float64(len(gains))); gain > most {
				best, most = of, gain
			}
		}
		return best
	}
	byMean := func(half []int) []float64 {
		return slices.MaxFunc(quarters, func(a, b []float64) int {
			return int(math.Copysign(1, meanOf(a, half)-meanOf(b, half)))
		})
	}
	fmt.Printf(",%.4f,%.4f\n", e.onOthers(byError), e.onOthers(byMean))
}

// onOthers returns the mean value of shares on the queries that did not choose them.
func (e *evaluation) onOthers(choose func(half []int) []float64) float64 {
	const times = 10
	n, sum := e.vali.Queries(), 0.
	for range times {
		order := e.queries.Perm(n)
		a, b := order[:n/2], order[n/2:]
		sum += (meanOf(choose(a), b)*float64(len(b)) + meanOf(choose(b), a)*float64(len(a))) / float64(n)
	}
	return sum / times
}

// known returns the values of some queries, all if nil, that are not NaN.
func known(values []float64, queries []int) []float64 {
	of := values
	if queries != nil {
		of = nil
		for _, q := range queries {
			of = append(of, values[q])
		}
	}
	return slices.DeleteFunc(slices.Clone(of), math.IsNaN)
}

func meanOf(values []float64, queries []int) float64 { return stat.Mean(known(values, queries), nil) }
