package main

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plrank/plrank/viz"
)

// fullsizeMoments are the seconds that training.csv has a row for, from a hundredth of plrank's
// training to the end of the longest one.
var fullsizeMoments = []float64{1, 2, 5, 10, 20, 40, 60, 90, 120, 180, 240, 360, 500, 700, 1000, 1400, 2000, 2800, 4000, 5600, 8000}

var fullsizeTables = []documentPart[*fullsizeResults]{
	{"fullsize-end", (*fullsizeResults).end},
}

// fullsizeResults are the curves that fullsize measured.
type fullsizeResults struct {
	truths, methods []string
	curves          []*fullsizeCurve
}

// A fullsizeCurve is one training: a forest by one setting, or plrank.
type fullsizeCurve struct {
	truth, method, setting string
	seconds, vali, test    []float64
}

// fullsize prints the tables of the results, and draws their curves.
var fullsize = tablesCommand[*fullsizeResults]{
	name: "fullsize", about: "the table of what fullsize/run.py measured; with -write, write training.csv and TRUTH.svg to -results, too",
	read: readFullsize, parts: fullsizeTables,
	files: func(r *fullsizeResults) (map[string]string, error) {
		training, err := csvText(r.training())
		files := map[string]string{"training.csv": training}
		for _, truth := range r.truths {
			files[truth+".svg"] = r.picture(truth).SVG()
		}
		return files, err
	},
}

func readFullsize(folder string) (*fullsizeResults, error) {
	r := &fullsizeResults{}
	var c *fullsizeCurve
	err := eachRow(filepath.Join(folder, "curves.csv"), func(row map[string]string) error {
		v, err := numbers(row, "seconds", "vali", "test")
		if err != nil {
			return err
		}
		if c == nil || c.truth != row["truth"] || c.method != row["method"] || c.setting != row["setting"] {
			c = &fullsizeCurve{truth: row["truth"], method: row["method"], setting: row["setting"]}
			r.curves = append(r.curves, c)
		}
		c.seconds, c.vali, c.test = append(c.seconds, v[0]), append(c.vali, v[1]), append(c.test, v[2])
		if !slices.Contains(r.truths, c.truth) {
			r.truths = append(r.truths, c.truth)
		}
		if !slices.Contains(r.methods, c.method) {
			r.methods = append(r.methods, c.method)
		}
		return nil
	})
	slices.SortFunc(r.methods, func(a, b string) int { // plrank last
		return cmp.Or(strings.Compare(fmt.Sprint(a == ourMethod), fmt.Sprint(b == ourMethod)), strings.Compare(a, b))
	})
	return r, err
}

// of are the trainings of a method.
func (r *fullsizeResults) of(truth, method string) []*fullsizeCurve {
	return slices.DeleteFunc(slices.Clone(r.curves), func(c *fullsizeCurve) bool { return c.truth != truth || c.method != method })
}

// picked is the point with the highest validation value among all trainings of a method, and
// whether it is the last of a forest, which could have grown on; ok is false if there is none.
func (r *fullsizeResults) picked(truth, method string) (test, seconds float64, rising, ok bool) {
	best := math.Inf(-1)
	for _, c := range r.of(truth, method) {
		for i, v := range c.vali {
			if v > best {
				best, test, seconds, ok = v, c.test[i], c.seconds[i], true
				rising = c.setting != "" && i == len(c.vali)-1
			}
		}
	}
	return test, seconds, rising, ok
}

// end is a table of test NDCG@10 where it was picked by validation.
func (r *fullsizeResults) end() (string, error) {
	rows := [][]string{append([]string{"test NDCG@10"}, r.methods...)}
	for _, truth := range r.truths {
		row := []string{truth}
		for _, method := range r.methods {
			test, seconds, rising, ok := r.picked(truth, method)
			if !ok {
				row = append(row, absent)
				continue
			}
			text := fmt.Sprintf("%s, %.0f s", fraction(test), seconds)
			if rising {
				text += ", rising"
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return markdownTable(rows), nil
}

// envelope is the highest test NDCG@10 that any training of a method had reached by then: who
// chooses one beforehand has less. It is NaN where there is no model yet.
func (r *fullsizeResults) envelope(truth, method string, at float64) float64 {
	best := math.NaN()
	for _, c := range r.of(truth, method) {
		for i, s := range c.seconds {
			if s <= at && !(c.test[i] <= best) {
				best = c.test[i]
			}
		}
	}
	return best
}

// training returns a table of envelopes at some moments.
func (r *fullsizeResults) training() [][]string {
	rows := [][]string{append([]string{"truth", "seconds"}, r.methods...)}
	for _, truth := range r.truths {
		longest, ours := 0.0, 0.0
		for _, c := range r.curves {
			if c.truth == truth {
				longest = max(longest, slices.Max(c.seconds))
			}
		}
		for _, c := range r.of(truth, ourMethod) {
			ours = slices.Max(c.seconds)
		}
		for _, at := range fullsizeMoments {
			if at < ours/100 || at > longest {
				continue
			}
			row := []string{truth, fmt.Sprint(at)}
			for _, method := range r.methods {
				text := absent
				if best := r.envelope(truth, method, at); !math.IsNaN(best) {
					text = fraction(best)
				}
				row = append(row, text)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// picture has the envelopes, and the trainings behind them.
func (r *fullsizeResults) picture(truth string) viz.Plot {
	p := viz.Plot{Title: "Test NDCG@10, truth " + truth, X: "processor seconds of training", LogX: true, Y: "NDCG@10"}
	var lines []viz.Series
	for _, method := range r.methods {
		line := viz.Series{Name: method + ", the best by then"}
		for _, c := range r.of(truth, method) {
			line.X = append(line.X, c.seconds...)
			p.Series = append(p.Series, viz.Series{X: c.seconds, Y: c.test, Style: viz.Guide})
		}
		slices.Sort(line.X)
		for _, at := range line.X {
			line.Y = append(line.Y, r.envelope(truth, method, at))
		}
		if line.X != nil {
			lines = append(lines, line)
		}
	}
	p.Series = append(p.Series, lines...)
	return p
}
