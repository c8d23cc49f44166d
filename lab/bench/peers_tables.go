package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/metrics"
)

// ourMethod is the name of the default recipe in the results.
const ourMethod = "plrank"

// absent is what a table has for a method that was not run.
const absent = "–"

// level is the probability of any false claim among the tests of a table.
const level = 0.05

func mean(values []float64) float64 { return stat.Mean(values, nil) }

// quality is a table of NDCG, mean of the folds and standard deviation over the seeds.
func (r *peerResults) quality(measure string) [][]string {
	rows := [][]string{append([]string{strings.ToUpper(measure)}, r.sets()...)}
	for _, method := range r.methods() {
		row := []string{method}
		for _, set := range r.sets() {
			text, _ := r.result(set, method, measure)
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return rows
}

// result is a cell of the table quality, and its mean; NaN for a method that was not run.
func (r *peerResults) result(set, method, measure string) (text string, m float64) {
	runs := r.of(set, method)
	if runs == nil {
		return absent, math.NaN()
	}
	m, sd := stat.MeanStdDev(bySeed(runs, func(run *peerRun) float64 { return run.values[measure] }), nil)
	text = fraction(m)
	if sd > 0 {
		text += " ± " + fraction(sd)
	}
	return text, m
}

// summaryRows are the libraries of the summary, by how the names of their methods begin.
var summaryRows = []struct{ label, methods string }{
	{"CatBoost", "CatBoost"}, {"LightGBM", "LightGBM"}, {"PL-Rank, authors' code", "PL-Rank"}, {"Rax", "Rax"},
	{"TF-Ranking", "TF-Ranking"}, {"XGBoost", "XGBoost"}, {ourMethod, ourMethod},
}

// summary is the table quality with one row for each library: its best method on each set, by
// the means of this table.
func (r *peerResults) summary(measure string) (string, error) {
	rows := [][]string{append([]string{strings.ToUpper(measure)}, r.sets()...)}
	for _, library := range summaryRows {
		row, run := []string{library.label}, false
		for _, set := range r.sets() {
			best, highest := absent, math.Inf(-1)
			for _, method := range r.methods() {
				if !strings.HasPrefix(method, library.methods) {
					continue
				}
				if text, m := r.result(set, method, measure); m > highest {
					best, highest, run = text, m, true
				}
			}
			row = append(row, best)
		}
		if run {
			rows = append(rows, row)
		}
	}
	return markdownTable(rows), nil
}

// fraction writes four digits after the point, without the zero before it.
func fraction(v float64) string {
	return strings.Replace(fmt.Sprintf("%.4f", v), "0.", ".", 1)
}

// A comparison is one of plrank with a peer on a set.
type comparison struct {
	set, method string
	metrics.Test
	adjusted float64
}

// comparisons are the tests of all peers on all sets, corrected together.
func (r *peerResults) comparisons() ([]comparison, error) {
	var all []comparison
	var ps []float64
	for _, set := range r.sets() {
		if r.of(set, ourMethod) == nil {
			continue
		}
		ours, err := r.perQuery(set, ourMethod)
		if err != nil {
			return nil, err
		}
		for _, method := range r.methods() {
			if method == ourMethod || r.of(set, method) == nil {
				continue
			}
			theirs, err := r.perQuery(set, method)
			if err != nil {
				return nil, err
			}
			test, err := metrics.PairedT(ours, theirs)
			if err != nil {
				return nil, fmt.Errorf("%s on %s: %w", method, set, err)
			}
			all = append(all, comparison{set: set, method: method, Test: test})
			ps = append(ps, test.PValue)
		}
	}
	adjusted, err := metrics.Holm(ps)
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i].adjusted = adjusted[i]
	}
	return all, nil
}

// verdict says who is ahead, if that can be told.
func (c comparison) verdict() string {
	switch {
	case c.adjusted >= level:
		return "level"
	case c.Difference > 0:
		return "plrank ahead"
	}
	return "plrank behind"
}

// tests is a table of what plrank has more than each peer, and whether that is certain.
func (r *peerResults) tests() ([][]string, error) {
	all, err := r.comparisons()
	if err != nil {
		return nil, err
	}
	rows := [][]string{append([]string{"plrank −"}, r.sets()...)}
	for _, method := range r.methods() {
		if method == ourMethod {
			continue
		}
		row := []string{method}
		for _, set := range r.sets() {
			text := absent
			for _, c := range all {
				if c.set == set && c.method == method {
					text = fmt.Sprintf("%s, p %s: %s", signed(c.Difference), probability(c.adjusted), c.verdict())
				}
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func signed(v float64) string {
	if v < 0 {
		return "−" + fraction(-v)
	}
	return "+" + fraction(v)
}

func probability(p float64) string {
	if p < 0.001 {
		return "< .001"
	}
	return strings.TrimPrefix(fmt.Sprintf("%.3f", p), "0")
}

// cost is a table of time, memory and lines of code.
func (r *peerResults) cost() ([][]string, error) {
	head := []string{"method"}
	for _, set := range r.sets() {
		head = append(head, set+": training, s", "prediction, ms")
	}
	rows := [][]string{append(head, "memory, MB", "lines of code")}
	for _, method := range r.methods() {
		row := []string{method}
		memory := 0.0
		for _, set := range r.sets() {
			runs := r.of(set, method)
			if runs == nil {
				row = append(row, absent, absent)
				continue
			}
			row = append(row,
				significant(mean(bySeed(runs, func(run *peerRun) float64 { return run.TrainSeconds }))),
				significant(1e3*leastBySeed(runs, func(run *peerRun) float64 { return run.PredictSeconds })))
			for _, run := range runs {
				memory = max(memory, run.MemoryMB)
			}
		}
		lines, err := r.lines(method)
		if err != nil {
			return nil, err
		}
		rows = append(rows, append(row, fmt.Sprintf("%.0f", memory), lines))
	}
	return rows, nil
}

// lines counts the lines of the functions and classes in the file of a method, without
// blank lines and comments.
func (r *peerResults) lines(method string) (string, error) {
	if method == ourMethod {
		return "1 command", nil
	}
	// The methods are in the folder of the results.
	paths, err := filepath.Glob(filepath.Join(r.folder, "quality", "methods", "*.py"))
	if err != nil {
		return "", err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		if !strings.Contains(string(text), `"`+method+`": `) {
			continue
		}
		count, inside := 0, false
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, " \n")
			inside = inside || strings.HasPrefix(line, "def ") || strings.HasPrefix(line, "class ")
			if bare := strings.TrimSpace(line); inside && bare != "" && !strings.HasPrefix(bare, "#") && !strings.HasPrefix(bare, `"""`) {
				count++
			}
		}
		return fmt.Sprint(count), nil
	}
	return "", fmt.Errorf("no file of peers/quality/methods has the method %q", method)
}

// agreement says how far our figures are from the figures of independent tools.
func (r *peerResults) agreement() (string, error) {
	worst := map[bool]float64{} // by whether ties are in the order of the file
	for _, run := range r.runs {
		others, ok := r.others[run.key()]
		if !ok {
			return "", fmt.Errorf("%s has no row for %s", independentFile, strings.ReplaceAll(run.key(), "\t", ", "))
		}
		for _, m := range peerMeasures {
			ordered := strings.HasPrefix(m, "ordered-")
			worst[ordered] = max(worst[ordered], math.Abs(run.values[m]-others[m]))
		}
	}
	const digits = 1e-8 // of the files
	return fmt.Sprintf(
		"In %d runs, NDCG@5 and NDCG@10 differ from pytrec_eval's by at most %.0e, equal scores in the order of the file, and from scikit-learn's by at most %.0e, the mean over all orders of equal scores.\n",
		len(r.runs),
		max(digits, worst[true]),
		max(digits, worst[false]),
	), nil
}
