package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/lab/internal/csvfile"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/viz"
)

// summary writes the tables of clicks.md that are made of measurements by seed, and the pictures.
func summary([]string) error {
	if err := summarizeSeeds("cascade", []int{0, 2, 3}, []int{4}); err != nil {
		return err
	}
	if err := summarizeSeeds("safety", []int{0, 2, 3}, []int{7, 8}); err != nil {
		return err
	}
	return learning()
}

// summarizeSeeds writes clicks/NAME-means.csv: the number of seeds, the mean and the least of columns of
// clicks/NAME.csv, for rows with the same keys, in the order in which they come.
func summarizeSeeds(name string, keys, columns []int) error {
	header, rows, err := csvfile.Read("clicks/" + name + ".csv")
	if err != nil {
		return err
	}
	values := map[string][][]float64{} // by key and column
	var order [][]string
	for _, row := range rows {
		key := pick(row, keys)
		id := strings.Join(key, "|")
		if values[id] == nil {
			order, values[id] = append(order, key), make([][]float64, len(columns))
		}
		for i, c := range columns {
			v, err := strconv.ParseFloat(row[c], 64)
			if err != nil {
				return err
			}
			values[id][i] = append(values[id][i], v)
		}
	}
	lines := [][]string{append(pick(header, keys), "seeds")}
	for _, c := range columns {
		lines[0] = append(lines[0], header[c]+", mean", header[c]+", least")
	}
	for _, key := range order {
		of := values[strings.Join(key, "|")]
		line := append(slices.Clone(key), strconv.Itoa(len(of[0])))
		for _, v := range of {
			line = append(line, fmt.Sprintf("%.4f", stat.Mean(v, nil)), fmt.Sprintf("%.4f", slices.Min(v)))
		}
		lines = append(lines, line)
	}
	return csvfile.Write("clicks/"+name+"-means.csv", lines)
}

func pick(row []string, columns []int) (of []string) {
	for _, c := range columns {
		of = append(of, row[c])
	}
	return of
}

// learning has the means over seeds of clicks/curves.csv. p belongs to the paired t-test of a method and naive over test queries, p of seeds to the same over the means of seeds.
func learning() error {
	points, err := readPoints("clicks/curves.csv")
	if err != nil {
		return err
	}
	lines := [][]string{{"data", "impressions", "method", "seeds", "ndcg@5", "less labels", "less naive", "p", "p of seeds"}}
	for _, pt := range points {
		if !slices.Contains([]int{0, 1e4, 1e6}, pt.impressions) {
			continue // the pictures have them
		}
		row := []string{
			pt.data,
			strconv.Itoa(pt.impressions),
			pt.method,
			strconv.Itoa(len(pt.values)),
			fmt.Sprintf("%.4f", pt.mean()),
			"",
			"",
			"",
			"",
		}
		if t, err := pt.against(find(points, pt.data, 0, "labels")); err == nil && pt.method != "labels" {
			row[5] = fmt.Sprintf("%+.4f", t.Difference)
		}
		naive := find(points, pt.data, pt.impressions, "naive")
		if t, err := pt.against(naive); err == nil && pt.method != "naive" {
			row[6], row[7] = fmt.Sprintf("%+.4f", t.Difference), fmt.Sprintf("%.2g", t.PValue)
			if t, err = metrics.PairedT(pt.means(), naive.means()); err == nil {
				row[8] = fmt.Sprintf("%.2g", t.PValue)
			}
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

// A curvesPoint is one method after a number of impressions: the values of queries, by seed.
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

// means returns the means of seeds.
func (pt *curvesPoint) means() (of []float64) {
	for _, seed := range slices.Sorted(maps.Keys(pt.values)) {
		of = append(of, stat.Mean(pt.values[seed], nil))
	}
	return of
}

func (pt *curvesPoint) mean() float64 { return stat.Mean(pt.means(), nil) }

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
