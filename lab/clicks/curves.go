package main

import (
	"cmp"
	"encoding/csv"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/lab/internal/csvfile"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

// methods turn a log into gains. In the tables "logger" is the ranker of the log, and "labels" what
// is learned with the same recipe from the true attraction of all training documents.
var methods = []struct {
	name  string
	gains func(l *clicks.Log, seed uint64) (*datasets.Dataset, error)
}{
	{"naive", estimated(clicks.Naive)},
	{"ips", estimated(clicks.IPS)},
	{"policy-aware", estimated(clicks.PolicyAware)},
	{"dr", estimated(clicks.DR)},
	{"dr, 1000 samples", func(l *clicks.Log, seed uint64) (*datasets.Dataset, error) { return sampledGains(l, baidu, seed) }},
}

func estimated(e clicks.Estimator) func(*clicks.Log, uint64) (*datasets.Dataset, error) {
	return func(l *clicks.Log, _ uint64) (*datasets.Dataset, error) { return clicks.Gains(l, baidu, e) }
}

var curvesHeader = []string{"data", "seed", "impressions", "method", "ndcg@5", "of queries"}

// A curvesFile is what was measured, by everything but the value.
type curvesFile struct {
	path string
	done map[string]bool
}

func openCurves(path string) (*curvesFile, error) {
	f := &curvesFile{path: path, done: map[string]bool{}}
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return f, os.WriteFile(path, []byte(strings.Join(curvesHeader, ",")+"\n"), 0o666)
	}
	text, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	rows, err := csv.NewReader(text).ReadAll()
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		f.done[strings.Join(row[:4], "|")] = true
	}
	return f, nil
}

// add measures what is not there yet, and appends it.
func (f *curvesFile) add(name string, p *production, n int, method string, values func() ([]float64, error)) error {
	row := []string{name, strconv.Itoa(int(p.seed)), strconv.Itoa(n), method}
	if f.done[strings.Join(row, "|")] {
		return nil
	}
	v, err := values()
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(row, ", "), err)
	}
	row = append(row, fmt.Sprintf("%.4f", stat.Mean(v, nil)))
	log.Print(strings.Join(row, ", "))
	row = append(row, strings.Trim(fmt.Sprintf("%.3f", v), "[]"))
	text, err := os.OpenFile(f.path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer text.Close()
	w := csv.NewWriter(text)
	if err := w.Write(row); err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}

// curves measures what is learned from so many clicks.
func curves(arguments []string) error {
	flags := flag.NewFlagSet("curves", flag.ExitOnError)
	data := flags.String("data", "", "`folder` of the collection")
	name := flags.String("name", "", "of the collection in the table")
	out := flags.String("out", "clicks/curves.csv", "`file` that measurements are appended to; what is there is not measured again")
	sizes := flags.String("n", "1000,10000,100000,1000000", "`impressions`")
	seeds := flags.Uint64("seeds", 5, "`number` of seeds")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if *data == "" || *name == "" || flags.NArg() > 0 {
		return errArguments
	}
	f, err := openCurves(*out)
	if err != nil {
		return err
	}
	productions := make([]*production, *seeds)
	for _, size := range strings.Split(*sizes, ",") {
		n, err := strconv.Atoi(size)
		if err != nil {
			return err
		}
		for seed := range productions {
			if productions[seed] == nil {
				if productions[seed], err = newProduction(*data, uint64(seed)); err != nil {
					return err
				}
				if err := f.addEnds(*name, productions[seed]); err != nil {
					return err
				}
			}
			if err := f.addMethods(*name, productions[seed], n); err != nil {
				return err
			}
		}
	}
	return nil
}

// addEnds measures what needs no clicks.
func (f *curvesFile) addEnds(name string, p *production) error {
	if err := f.add(name, p, 0, "logger", func() ([]float64, error) { return p.perQuery(p.model, "ndcg@5") }); err != nil {
		return err
	}
	return f.add(name, p, 0, "labels", func() ([]float64, error) {
		return p.learned(p.known(byGrade(p.train)))
	})
}

func (f *curvesFile) addMethods(name string, p *production, n int) error {
	var l *clicks.Log
	for _, m := range methods {
		err := f.add(name, p, n, m.name, func() (v []float64, err error) {
			if l == nil {
				if l, err = p.log(clicks.User{Behaviour: clicks.PositionBased(baidu.Alpha)}, n); err != nil {
					return nil, err
				}
			}
			gains, err := m.gains(l, p.seed)
			if err != nil {
				return nil, err
			}
			return p.learned(gains)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// learned is the NDCG@5 of what is trained on gains.
func (p *production) learned(gains *datasets.Dataset) ([]float64, error) {
	model, _, err := p.fit(gains, recipe(gains), train.Parts{})
	if err != nil {
		return nil, err
	}
	return p.perQuery(model, "ndcg@5")
}

// summary writes the means over seeds of clicks/curves.csv to clicks/learning.csv, and draws them. p is
// that of the paired t-test of a method and naive, over test queries.
func summary([]string) error {
	points, err := readPoints("clicks/curves.csv")
	if err != nil {
		return err
	}
	lines := [][]string{{"data", "impressions", "method", "seeds", "ndcg@5", "less labels", "less naive", "p"}}
	for _, pt := range points {
		row := []string{pt.data, strconv.Itoa(pt.impressions), pt.method, strconv.Itoa(len(pt.values)), fmt.Sprintf("%.4f", pt.mean()), "", "", ""}
		if t, err := pt.against(find(points, pt.data, 0, "labels")); err == nil && pt.method != "labels" {
			row[5] = fmt.Sprintf("%+.4f", t.Difference)
		}
		if t, err := pt.against(find(points, pt.data, pt.impressions, "naive")); err == nil && pt.method != "naive" {
			row[6], row[7] = fmt.Sprintf("%+.4f", t.Difference), fmt.Sprintf("%.2g", t.PValue)
		}
		lines = append(lines, row)
	}
	if err := csvfile.Write("clicks/learning.csv", lines); err != nil {
		return err
	}
	for _, data := range []string{"MQ2008", "lambdarank"} {
		if err := draw(data, points); err != nil {
			return err
		}
	}
	return nil
}

// draw has a curve for each method, and flat ones of what needs no clicks.
func draw(data string, points []*curvesPoint) error {
	plot := viz.Plot{Title: data, X: "impressions", Y: "NDCG@5", LogX: true}
	for _, method := range []string{"labels", "dr", "dr, 1000 samples", "policy-aware", "ips", "naive", "logger"} {
		s := viz.Series{Name: method}
		for _, pt := range points {
			switch {
			case pt.data != data || pt.method != method:
			case pt.impressions == 0:
				s.X, s.Y = []float64{1e3, 1e6}, []float64{pt.mean(), pt.mean()}
			default:
				s.X, s.Y = append(s.X, float64(pt.impressions)), append(s.Y, pt.mean())
			}
		}
		plot.Series = append(plot.Series, s)
	}
	return plot.Save("clicks/learning-" + data + ".svg")
}

// A curvesPoint is one method after so many impressions: the values of queries, by seed.
type curvesPoint struct {
	data, method string
	impressions  int
	values       map[int][]float64
}

// readPoints reads them in the order of collections and impressions.
func readPoints(path string) (points []*curvesPoint, err error) {
	_, rows, err := csvfile.Read(path)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		seed, err := strconv.Atoi(row[1])
		n, err2 := strconv.Atoi(row[2])
		if err := cmp.Or(err, err2); err != nil {
			return nil, err
		}
		pt := find(points, row[0], n, row[3])
		if pt.values == nil {
			pt = &curvesPoint{row[0], row[3], n, map[int][]float64{}}
			points = append(points, pt)
		}
		for _, text := range strings.Fields(row[5]) {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, err
			}
			pt.values[seed] = append(pt.values[seed], v)
		}
	}
	slices.SortStableFunc(points, func(a, b *curvesPoint) int {
		return cmp.Or(cmp.Compare(a.data, b.data), cmp.Compare(a.impressions, b.impressions))
	})
	return points, nil
}

// find is an empty point if there is none.
func find(points []*curvesPoint, data string, impressions int, method string) *curvesPoint {
	i := slices.IndexFunc(points, func(pt *curvesPoint) bool {
		return pt.data == data && pt.impressions == impressions && pt.method == method
	})
	if i < 0 {
		return &curvesPoint{}
	}
	return points[i]
}

// mean is that of the means of seeds.
func (pt *curvesPoint) mean() float64 {
	sum := 0.0
	for _, seed := range slices.Sorted(maps.Keys(pt.values)) {
		sum += stat.Mean(pt.values[seed], nil)
	}
	return sum / float64(len(pt.values))
}

// against compares them query by query: the test queries of all folds, or, where all seeds have the same test
// queries, the means over seeds.
func (pt *curvesPoint) against(other *curvesPoint) (metrics.Test, error) {
	var a, b []float64
	seeds := 0
	for _, seed := range slices.Sorted(maps.Keys(pt.values)) {
		x, y := pt.values[seed], other.values[seed]
		switch {
		case y == nil:
		case seeds > 0 && pt.data != "MQ2008":
			floats.Add(a, x)
			floats.Add(b, y)
			seeds++
		default:
			a, b = append(a, x...), append(b, y...)
			seeds++
		}
	}
	if pt.data != "MQ2008" && seeds > 0 {
		floats.Scale(1/float64(seeds), a)
		floats.Scale(1/float64(seeds), b)
	}
	return metrics.PairedT(a, b)
}
