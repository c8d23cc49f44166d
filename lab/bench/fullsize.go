package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/viz"
)

// fullsizeMoments are the seconds of which there is a row in the tables, from a hundredth of the
// longest training to its end.
var fullsizeMoments = []float64{1, 2, 5, 10, 20, 30, 45, 60, 90, 120, 180, 240, 360, 500, 700, 900}

var fullsizeTables = []documentPart[*fullsizeResults]{
	{"fullsize-end", (*fullsizeResults).end},
	{"fullsize-training", func(r *fullsizeResults) (string, error) { return r.moments(trainingAlone) }},
	{"fullsize-text", func(r *fullsizeResults) (string, error) { return r.moments(fromText) }},
	{"fullsize-costs", (*fullsizeResults).costs},
}

// A clock says when seconds of training are over for a method.
type clock struct {
	axis  string
	begin func(cost) float64 // seconds before training
}

var (
	trainingAlone = clock{"seconds of training", func(cost) float64 { return 0 }}
	fromText      = clock{"seconds from text on disk", func(c cost) float64 { return c.read }}
)

// fullsizeResults are the CSV files of fullsize.
type fullsizeResults struct {
	collections, methods []string
	curves               []*fullsizeCurve
	cost                 map[[2]string]cost // of collection and method
}

// A fullsizeCurve is one training: a forest by one setting, or plrank.
type fullsizeCurve struct {
	collection, method, setting string
	seconds, vali, test         []float64
}

// A cost is what a method needs besides training.
type cost struct{ read, memory float64 } // seconds, MB

// fullsize prints the tables of the results, and draws their curves.
var fullsize = tablesCommand[*fullsizeResults]{
	name: "fullsize", about: "tables of what fullsize/run.py measured; with -write, its pictures, too: training.svg and text.svg in -results",
	read: readFullsize, parts: fullsizeTables,
	files: func(r *fullsizeResults) map[string]string {
		return map[string]string{"training.svg": r.picture(trainingAlone).SVG(), "text.svg": r.picture(fromText).SVG()}
	},
}

func readFullsize(folder string) (*fullsizeResults, error) {
	r := &fullsizeResults{cost: map[[2]string]cost{}}
	var c *fullsizeCurve
	err := eachRow(filepath.Join(folder, "curves.csv"), func(row map[string]string) error {
		v, err := numbers(row, "seconds", "vali", "test")
		if err != nil {
			return err
		}
		if c == nil || c.collection != row["collection"] || c.method != row["method"] || c.setting != row["setting"] {
			c = &fullsizeCurve{collection: row["collection"], method: row["method"], setting: row["setting"]}
			r.curves = append(r.curves, c)
		}
		c.seconds, c.vali, c.test = append(c.seconds, v[0]), append(c.vali, v[1]), append(c.test, v[2])
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r, eachRow(filepath.Join(folder, "costs.csv"), func(row map[string]string) error {
		v, err := numbers(row, "read_seconds", "memory_mb")
		if err != nil {
			return err
		}
		r.cost[[2]string{row["collection"], row["method"]}] = cost{read: v[0], memory: v[1]}
		if !slices.Contains(r.collections, row["collection"]) {
			r.collections = append(r.collections, row["collection"])
		}
		if !slices.Contains(r.methods, row["method"]) {
			r.methods = append(r.methods, row["method"])
		}
		return nil
	})
}

// picked is the point with the highest validation value among all trainings of a method, and
// whether it is the last of a forest, which could have grown on; ok is false if there is none.
func (r *fullsizeResults) picked(collection, method string) (test, seconds float64, rising, ok bool) {
	best := math.Inf(-1)
	for _, c := range r.curves {
		if c.collection != collection || c.method != method {
			continue
		}
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
	header := []string{"NDCG@10"}
	for _, collection := range r.collections {
		header = append(header, "collection "+collection)
	}
	rows := [][]string{append(header, "mean")}
	for _, method := range r.methods {
		row, values := []string{method}, []float64(nil)
		for _, collection := range r.collections {
			test, seconds, rising, ok := r.picked(collection, method)
			if !ok {
				row = append(row, absent)
				continue
			}
			values = append(values, test)
			text := fmt.Sprintf("%s, %.0f s", fraction(test), seconds)
			if rising {
				text += ", cut off while rising"
			}
			row = append(row, text)
		}
		text := absent
		if len(values) == len(r.collections) {
			text = fraction(mean(values))
			if len(values) > 1 {
				text += " ± " + fraction(stat.StdDev(values, nil))
			}
		}
		rows = append(rows, append(row, text))
	}
	return markdownTable(rows), nil
}

// envelope is the highest test NDCG@10 that any training of a method had reached by then on
// the first collection, where all settings are tried: who chooses one beforehand has less.
// It is NaN where there is no model yet.
func (r *fullsizeResults) envelope(method string, by clock, at float64) float64 {
	first := r.collections[0]
	begin, best := by.begin(r.cost[[2]string{first, method}]), math.NaN()
	for _, c := range r.curves {
		if c.collection != first || c.method != method {
			continue
		}
		for i, s := range c.seconds {
			if begin+s <= at && !(c.test[i] <= best) {
				best = c.test[i]
			}
		}
	}
	return best
}

// moments is a table of envelopes.
func (r *fullsizeResults) moments(by clock) (string, error) {
	rows := [][]string{append([]string{by.axis}, r.methods...)}
	longest := 0.0
	for _, c := range r.curves {
		longest = max(longest, by.begin(r.cost[[2]string{c.collection, c.method}])+slices.Max(c.seconds))
	}
	for _, at := range fullsizeMoments {
		if at < longest/100 || at > longest {
			continue
		}
		row := []string{fmt.Sprint(at)}
		for _, method := range r.methods {
			text := absent
			if best := r.envelope(method, by, at); !math.IsNaN(best) {
				text = fraction(best)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return markdownTable(rows), nil
}

// costs is a table of the time to read text and of the highest memory, mean of the collections.
func (r *fullsizeResults) costs() (string, error) {
	rows := [][]string{{"method", "reading text, s", "memory, MB"}}
	for _, method := range r.methods {
		var read, memory []float64
		for _, collection := range r.collections {
			if c, ok := r.cost[[2]string{collection, method}]; ok {
				read, memory = append(read, c.read), append(memory, c.memory)
			}
		}
		rows = append(rows, []string{method, fmt.Sprintf("%.1f", mean(read)), fmt.Sprintf("%.0f", mean(memory))})
	}
	return markdownTable(rows), nil
}

// picture has the envelopes on the first collection, and the trainings behind them.
func (r *fullsizeResults) picture(by clock) viz.Plot {
	first := r.collections[0]
	p := viz.Plot{Title: "Test NDCG@10", X: by.axis, Y: "NDCG@10"}
	var lines []viz.Series
	for _, method := range r.methods {
		begin := by.begin(r.cost[[2]string{first, method}])
		var moments []float64
		for _, c := range r.curves {
			if c.collection != first || c.method != method {
				continue
			}
			x := make([]float64, len(c.seconds))
			for i, s := range c.seconds {
				x[i] = begin + s
			}
			moments = append(moments, x...)
			p.Series = append(p.Series, viz.Series{X: x, Y: c.test, Style: viz.Guide})
		}
		slices.Sort(moments)
		line := viz.Series{Name: strings.TrimSpace(method + ", the best by then"), X: moments}
		for _, at := range moments {
			line.Y = append(line.Y, r.envelope(method, by, at))
		}
		lines = append(lines, line)
	}
	p.Series = append(p.Series, lines...)
	return p
}
