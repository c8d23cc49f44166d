package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

const samplesFile = "samples.csv"

var samplesChapter = chapter{
	name: "samples", title: "Sample efficiency (Figure 1 of the paper)", csv: samplesFile,
	reading: "DCG@5 is the one expected under the policy, on the test split. Brackets and bands are one standard deviation over the runs.",
	tables:  samplesTables, plots: samplesPlots,
}

// runSamples trains with each loss and number of samples.
func runSamples(ctx context.Context, s *session) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	var trials []trial
	for run := range s.Runs { // first, so that an interrupted session has all of fewer runs
		add := func(loss string, n int) {
			trials = append(trials, trial{experiment: samplesChapter.name, loss: loss, run: run, config: s.config(loss, train.SampleCount(n), run)})
		}
		for _, n := range s.Samples {
			for _, loss := range s.Losses {
				switch {
				case isExact(loss):
				case s.has(loss, n):
					add(loss, n)
				default:
					s.leaveOut(loss, n)
				}
			}
		}
		for _, loss := range s.Losses {
			if isExact(loss) {
				add(loss, s.Samples[0])
			}
		}
	}
	if len(trials) == 0 {
		return command.Usage(errNoTrials)
	}
	curves, err := s.trainAll(ctx, samplesChapter.name, trials, sideBySide)
	if err != nil {
		return err
	}
	t := newTable(append([]string{"data", "loss", "samples", "run", "epoch", validation}, relevance...)...)
	for i, c := range trials {
		for _, e := range curves[i] {
			t.add(
				withTest(
					[]any{s.data.ID.Name, c.loss, samplesText(c.loss, int(c.config.Samples)), c.run + 1, e.Epoch, float64(e.Vali[mainMeasure])},
					e,
					relevance,
				)...)
		}
	}
	if err := t.write(s.file(samplesFile)); err != nil {
		return err
	}
	return s.publish(samplesChapter)
}

// leaveOut notes a trial that -without names, if it is not noted already.
func (s *session) leaveOut(loss string, samples int) {
	what := cost{Loss: loss, Samples: samples}.label()
	if !slices.ContainsFunc(s.leftOut, func(l string) bool { return strings.HasPrefix(l, what) }) {
		s.leftOut = append(s.leftOut, what+", named by -without")
	}
}

func samplesTables(dir string) ([]viz.Table, error) {
	t, err := readTable(dir+"/"+samplesFile, "loss", "samples", "run", "epoch", mainMeasure)
	if err != nil {
		return nil, err
	}
	title := fmt.Sprintf("DCG@5 after %d epochs, mean and (standard deviation) of %d runs", len(t.distinct("epoch")), len(t.distinct("run")))
	table, err := lossesBySamples(t, title, mainMeasure, func(c curve) string { return bracketed(c.last(), 3) })
	if err != nil {
		return nil, err
	}
	tables := []viz.Table{*table}
	further := []func(*csvTable) (*viz.Table, error){samplesPairs, coincidence, samplesRates}
	for _, n := range t.where("loss", reference).distinct("samples") {
		further = append(further, func(t *csvTable) (*viz.Table, error) { return samplesAllPairs(t, n) })
	}
	for _, more := range further {
		table, err := more(t)
		if err != nil {
			return nil, err
		}
		if table != nil {
			tables = append(tables, *table)
		}
	}
	return tables, nil
}

// lossesBySamples has a row for each loss and a column for each N, with what is to be said of
// the curve of a measure.
func lossesBySamples(t *csvTable, title, measure string, say func(curve) string) (*viz.Table, error) {
	table := viz.Table{Title: title, Columns: []string{""}}
	for _, n := range t.distinct("samples") {
		table.Columns = append(table.Columns, "N = "+n)
	}
	for _, loss := range t.distinct("loss") {
		row := viz.Row{methodOf(loss).label}
		for _, n := range t.distinct("samples") {
			c, err := curveOf(t.where("loss", loss).where("samples", n), measure)
			if err != nil {
				return nil, err
			}
			text := "–"
			if len(c.x) > 0 {
				text = say(c)
			}
			row = append(row, text)
		}
		table.Rows = append(table.Rows, row)
	}
	return &table, nil
}

// samplesPairs compares all methods with the reference that has as many samples, seed by seed.
func samplesPairs(t *csvTable) (*viz.Table, error) {
	last := func(loss, n string) ([]float64, error) {
		c, err := curveOf(t.where("loss", loss).where("samples", samplesAt(loss, n)), mainMeasure)
		if err != nil || len(c.x) == 0 {
			return nil, err
		}
		return c.last(), nil
	}
	var p pairs
	for _, n := range t.where("loss", reference).distinct("samples") {
		p.columns = append(p.columns, "N = "+n)
		than, err := last(reference, n)
		if err != nil {
			return nil, err
		}
		row := 0
		for _, loss := range t.distinct("loss") {
			if loss == reference {
				continue
			}
			if len(p.columns) == 1 {
				p.rows = append(p.rows, methodOf(loss).label)
			}
			runs, err := last(loss, n)
			if err != nil {
				return nil, err
			}
			p.add(row, len(p.columns)-1, runs, than)
			row++
		}
	}
	return p.table(minusReference("DCG@5"), 3)
}

// samplesAllPairs compares all methods with that number of samples with each other, seed by seed; nil where there are fewer
// than three.
func samplesAllPairs(t *csvTable, n string) (*viz.Table, error) {
	var labels []string
	var runs [][]float64
	for _, loss := range t.distinct("loss") {
		c, err := curveOf(t.where("loss", loss).where("samples", samplesAt(loss, n)), mainMeasure)
		if err != nil {
			return nil, err
		}
		if len(c.x) > 0 {
			labels, runs = append(labels, methodOf(loss).label), append(runs, c.last())
		}
	}
	if len(labels) < 3 {
		return nil, nil
	}
	return allPairs(labels, runs).table(fmt.Sprintf("N = %s: %s", n, rowMinusColumn("DCG@5")), 3)
}

// samplesRates shows on validation data at which learning rates a method goes on improving, where
// some loss has a rate of its own.
func samplesRates(t *csvTable) (*viz.Table, error) {
	if !slices.Contains(t.columns, validation) ||
		!slices.ContainsFunc(t.distinct("loss"), func(loss string) bool { return strings.Contains(loss, rateSeparator) }) {
		return nil, nil
	}
	const title = "DCG@5 on validation data, mean of the runs: after the last epoch, and the highest of any epoch"
	return lossesBySamples(t, title, validation, func(c curve) string {
		highest := math.Inf(-1)
		for i := range c.x {
			highest = max(highest, first(meanSD(c.at(i))))
		}
		return fmt.Sprintf("%.3f, %.3f", first(meanSD(c.last())), highest)
	})
}

// The two methods that are the same number, ranking by ranking.
var sameMethods = [2]string{"plrank1", "placement-policy-gradient"}

// coincidence says how long the runs of sameMethods of one seed are the same; nil where there
// are not both.
func coincidence(t *csvTable) (*viz.Table, error) {
	const tolerance = 1e-4
	table := viz.Table{
		Title:   "epochs until the DCG@5 of PL-Rank-1 and of the placement policy gradient differ by more than 0.0001, run by run",
		Columns: []string{"N", "epochs", "of"},
	}
	for _, n := range t.distinct("samples") {
		var curves [2]curve
		for i, loss := range sameMethods {
			var err error
			if curves[i], err = curveOf(t.where("loss", loss).where("samples", n), mainMeasure); err != nil {
				return nil, err
			}
		}
		a, b := curves[0], curves[1]
		if len(a.runs) == 0 || len(a.runs) != len(b.runs) {
			continue
		}
		var same []string
		for run := range a.runs {
			epochs := 0
			for epochs < len(a.x) && math.Abs(a.runs[run][epochs]-b.runs[run][epochs]) <= tolerance {
				epochs++
			}
			same = append(same, strconv.Itoa(epochs))
		}
		table.Rows = append(table.Rows, viz.Row{n, strings.Join(same, ", "), len(a.x)})
	}
	if table.Rows == nil {
		return nil, nil
	}
	return &table, nil
}

func samplesPlots(dir string) ([]figure, error) {
	t, err := readTable(dir+"/"+samplesFile, "data", "loss", "samples", "run", "epoch", mainMeasure)
	if err != nil {
		return nil, err
	}
	var figures []figure
	for _, n := range t.distinct("samples") {
		if n == unlimited {
			continue // in all plots
		}
		p := viz.Plot{Title: fmt.Sprintf("%s, N = %s", t.distinct("data")[0], n), X: "training epoch", Y: "DCG@5"}
		for _, m := range methodsOf(t, methodOf) {
			c, err := curveOf(t.where("loss", m.loss).where("samples", samplesAt(m.loss, n)), mainMeasure)
			if err != nil {
				return nil, err
			}
			if len(c.x) > 0 {
				p.Series = append(p.Series, c.band(m))
			}
		}
		figures = append(figures, figure{"samples-n" + n, p})
	}
	return figures, nil
}

// recolor gives a method whose colour another one before it has the first that is free: one loss at
// several rates.
func recolor(list []method) {
	used := map[int]bool{}
	for _, m := range list {
		used[m.color] = true
	}
	seen := map[int]bool{}
	for i := range list {
		m := &list[i]
		for c := 1; seen[m.color] && c <= colors; c++ {
			if !used[c] {
				m.color = c
			}
		}
		seen[m.color], used[m.color] = true, true
	}
}

// colors is how many a plot has.
const colors = 7
