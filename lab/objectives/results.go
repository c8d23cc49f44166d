package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/lab/internal/csvfile"
	"github.com/plrank/plrank/lab/internal/markdown"
	"github.com/plrank/plrank/metrics"
)

// measures judge every method. Queries without a relevant document do not count.
var measures = []string{"ndcg@10", "mrr@10", "map@10", "map", "err@10", "hits@1"}

// level is the probability of any false claim among the tests of a metric.
const level = 0.05

// perQuery has, by method and measure, the values of the test queries of all folds of a set, means over the seeds.
type perQuery map[string]map[string][]float64

// measure measures on every set as many seeds as all methods have in all folds, and writes runs.csv and tests.csv, which keep
// the sets that are not in work.
func measure(_ context.Context, args []string) error {
	f := flag.NewFlagSet("measure", flag.ExitOnError)
	work := f.String("work", "", "the working `folder` of train")
	least := f.Int("seeds", 5, "leave out sets with fewer trainings of a method on a fold")
	f.Parse(args)
	_, oldRuns, err := csvfile.Read(filepath.Join("objectives", "runs.csv"))
	if err != nil {
		return err
	}
	_, oldTests, err := csvfile.Read(filepath.Join("objectives", "tests.csv"))
	if err != nil {
		return err
	}
	runs := [][]string{append([]string{"set", "fold", "method", "seed"}, measures...)}
	values := map[string]perQuery{}
	for _, set := range sets {
		folds, err := foldsOf(*work, set)
		if err != nil {
			return err
		}
		seeds := seedsOf(*work, set, folds)
		if seeds < *least {
			log.Printf("%s stays as it was: not all methods have %d trainings on each fold", set, *least)
			runs = append(runs, slices.DeleteFunc(slices.Clone(oldRuns), func(run []string) bool { return run[0] != set })...)
			continue
		}
		values[set] = perQuery{}
		for _, fold := range folds {
			rows, err := values[set].addFold(*work, set, fold, seeds)
			if err != nil {
				return err
			}
			runs = append(runs, rows...)
		}
	}
	tests, err := testAll(values, oldTests)
	if err != nil {
		return err
	}
	if err := csvfile.Write(filepath.Join("objectives", "runs.csv"), runs); err != nil {
		return err
	}
	return csvfile.Write(filepath.Join("objectives", "tests.csv"), tests)
}

// seedsOf returns how many seeds, from 1, all methods have in all folds of a set.
func seedsOf(work, set string, folds []string) (n int) {
	for ; len(folds) > 0; n++ {
		for _, fold := range folds {
			for _, m := range methods {
				if !exists(scoresPath(filepath.Join(work, "runs", set, fold), m.name, n+1)) {
					return n
				}
			}
		}
	}
	return 0
}

// addFold adds the values of a fold, and returns its rows of runs.csv.
func (p perQuery) addFold(work, set, fold string, seeds int) (rows [][]string, err error) {
	folder, err := os.ReadFile(filepath.Join(work, "folds", set, fold+".path"))
	if err != nil {
		return nil, err
	}
	test, err := openTest(string(folder))
	if err != nil {
		return nil, err
	}
	for _, m := range methods {
		sums := map[string][]float64{}
		for seed := 1; seed <= seeds; seed++ {
			path := scoresPath(filepath.Join(work, "runs", set, fold), m.name, seed)
			values, err := measureScores(path, test)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			row := []string{set, fold, m.name, strconv.Itoa(seed)}
			for _, name := range measures {
				row = append(row, strconv.FormatFloat(stat.Mean(values[name], nil), 'f', 6, 64))
				if sums[name] == nil {
					sums[name] = make([]float64, len(values[name]))
				}
				for q, v := range values[name] {
					sums[name][q] += v / float64(seeds)
				}
			}
			rows = append(rows, row)
		}
		if p[m.name] == nil {
			p[m.name] = map[string][]float64{}
		}
		for name, values := range sums {
			p[m.name][name] = append(p[m.name][name], values...)
		}
	}
	return rows, nil
}

// measureScores measures scores, one a line in the order of the file, on the queries with a relevant document.
func measureScores(path string, test *datasets.Dataset) (map[string][]float64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	lines := strings.Fields(string(text))
	if len(lines) != test.Rows() {
		return nil, fmt.Errorf("%d scores for the %d documents of %s", len(lines), test.Rows(), test.Name)
	}
	in := metrics.Queries{Scores: make([]float64, len(lines)), Labels: test.Labels, Offsets: test.Offsets}
	for row := range in.Scores {
		line := row
		if test.SourceRows != nil {
			line = test.SourceRows[row]
		}
		if in.Scores[row], err = strconv.ParseFloat(lines[line], 64); err != nil {
			return nil, fmt.Errorf("line %d: %w", line+1, err)
		}
	}
	values := map[string][]float64{}
	var free []bool // of relevant documents
	for _, name := range measures {
		m, err := metrics.ParseMeasure(name)
		if err != nil {
			return nil, err
		}
		of, err := m.PerQuery(in)
		if err != nil {
			return nil, err
		}
		if free == nil { // ndcg is NaN there
			for _, v := range of {
				free = append(free, math.IsNaN(v))
			}
		}
		for q, v := range of {
			if !free[q] {
				values[name] = append(values[name], v)
			}
		}
	}
	return values, nil
}

// testAll compares, for each metric with an exact loss, the method of this loss with all others on every set: t-tests paired by
// query, by Holm's method over the sets and methods of a metric. Sets without values have the tests of old lines.
func testAll(values map[string]perQuery, old [][]string) ([][]string, error) {
	lines := [][]string{{"metric", "own", "method", "set", "queries", "difference", "p", "adjusted"}}
	for _, own := range methods {
		if own.own == "" {
			continue
		}
		var of [][]string
		var ps []float64
		for _, m := range methods {
			if m.name == own.name {
				continue
			}
			for _, set := range sets {
				if values[set] == nil {
					for _, line := range old {
						if slices.Equal(line[:4], []string{own.own, own.name, m.name, set}) {
							p, err := strconv.ParseFloat(line[6], 64)
							if err != nil {
								return nil, err
							}
							of, ps = append(of, line[:7:7]), append(ps, p)
						}
					}
					continue
				}
				a, b := values[set][own.name][own.own], values[set][m.name][own.own]
				t, err := metrics.PairedT(a, b)
				if err != nil {
					return nil, fmt.Errorf("%s and %s on %s: %w", own.name, m.name, set, err)
				}
				of = append(
					of,
					[]string{own.own, own.name, m.name, set, strconv.Itoa(len(a)), fmt.Sprintf("%.5f", t.Difference), fmt.Sprintf("%.3g", t.PValue)},
				)
				ps = append(ps, t.PValue)
			}
		}
		adjusted, err := metrics.Holm(ps)
		if err != nil {
			return nil, err
		}
		for i, line := range of {
			lines = append(lines, append(line, fmt.Sprintf("%.3g", adjusted[i])))
		}
	}
	return lines, nil
}

// tables prints the tables of the page, and writes means.csv.
func tables(_ context.Context, args []string) error {
	f := flag.NewFlagSet("tables", flag.ExitOnError)
	write := f.String("write", "", "replace the tables of this page")
	f.Parse(args)
	parts, means, err := tablesOf("objectives")
	if err != nil {
		return err
	}
	if *write == "" {
		for _, p := range parts {
			fmt.Printf("<!-- %s -->\n%s<!-- /%s -->\n\n", p.name, p.text, p.name)
		}
		return nil
	}
	text, err := os.ReadFile(*write)
	for _, p := range parts {
		var replaced string
		if replaced, err = markdown.Replace(string(text), p.name, p.text); err != nil {
			return fmt.Errorf("%s: %w", *write, err)
		}
		text = []byte(replaced)
	}
	return errors.Join(err, os.WriteFile(*write, text, 0o666), csvfile.Write(filepath.Join("objectives", "means.csv"), means))
}

type part struct{ name, text string }

// tablesOf makes the tables from the CSV files of a folder: the means over the sets, and what an exact loss has more of its
// metric than each other method.
func tablesOf(folder string) (parts []part, means [][]string, err error) {
	_, runs, err := csvfile.Read(filepath.Join(folder, "runs.csv"))
	if err != nil {
		return nil, nil, err
	}
	_, tests, err := csvfile.Read(filepath.Join(folder, "tests.csv"))
	if err != nil {
		return nil, nil, err
	}
	number := func(text string) float64 {
		v, bad := strconv.ParseFloat(text, 64)
		err = errors.Join(err, bad)
		return v
	}
	means = [][]string{append([]string{"set", "method", "seeds"}, measures...)}
	head := append([]string{"trained on"}, measures...)
	all, full := [][]string{head}, [][]string{head}
	for _, m := range methods {
		ofSets := make([][]float64, len(measures))
		for _, set := range sets {
			row := []string{set, m.name, ""}
			for i := range measures {
				seeds := map[string][]float64{}
				for _, run := range runs {
					if run[0] == set && run[2] == m.name {
						seeds[run[3]] = append(seeds[run[3]], number(run[4+i]))
					}
				}
				if len(seeds) == 0 {
					break
				}
				var values []float64
				for _, folds := range seeds {
					values = append(values, stat.Mean(folds, nil))
				}
				slices.Sort(values) // maps have no order, sums do
				mean, sd := stat.MeanStdDev(values, nil)
				text := fraction(mean)
				if len(values) > 1 {
					text += " ± " + fraction(sd)
				}
				row = append(row, text)
				row[2] = strconv.Itoa(len(values))
				if set != fullSize {
					ofSets[i] = append(ofSets[i], mean)
				}
			}
			if len(row) > 3 {
				means = append(means, row)
				if set == fullSize {
					full = append(full, append([]string{m.name}, row[3:]...))
				}
			}
		}
		row := []string{m.name}
		for _, values := range ofSets {
			row = append(row, fraction(stat.Mean(values, nil)))
		}
		all = append(all, row)
	}
	head = []string{"exact loss minus"}
	for _, own := range methods {
		if own.own != "" {
			head = append(head, own.own)
		}
	}
	verdicts := [][]string{head}
	for _, m := range methods {
		row := []string{m.name}
		for _, metric := range head[1:] {
			var differences []float64
			ahead, behind := 0, 0
			for _, t := range tests {
				if t[0] != metric || t[2] != m.name || t[3] == fullSize {
					continue
				}
				d := number(t[5])
				differences = append(differences, d)
				switch {
				case number(t[7]) >= level:
				case d > 0:
					ahead++
				default:
					behind++
				}
			}
			text := "–"
			if differences != nil {
				text = fmt.Sprintf("%s (%d, %d)", signed(stat.Mean(differences, nil)), ahead, behind)
			}
			row = append(row, text)
		}
		verdicts = append(verdicts, row)
	}
	return []part{{"objectives/means", table(all)}, {"objectives/tests", table(verdicts)}, {"objectives/full-size", table(full)}}, means, err
}

func table(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(row)))
		}
	}
	return b.String()
}

// fraction writes four digits after the point, without the zero before it.
func fraction(v float64) string { return strings.Replace(fmt.Sprintf("%.4f", v), "0.", ".", 1) }

func signed(v float64) string {
	if v < 0 {
		return "−" + fraction(-v)
	}
	return "+" + fraction(v)
}
