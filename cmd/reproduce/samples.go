package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

const samplesFile = "samples.csv"

var samplesChapter = chapter{
	name: "samples", title: "Sample efficiency (Figure 1 of the paper)", csv: samplesFile,
	reading: "DCG@5 expected under the policy, on the test split: mean over the runs, and standard deviation in brackets, after the last epoch; in the plots a band of one standard deviation to either side.",
	tables:  samplesTables, plots: samplesPlots,
}

// runSamples trains with each loss and number of samples.
func runSamples(ctx context.Context, s *session) error {
	if err := s.open(); err != nil {
		return err
	}
	var cells []cell
	for _, n := range s.Samples {
		for _, loss := range s.Losses {
			if !s.has(loss, n) {
				s.leaveOut(loss, n)
				continue
			}
			for run := range s.Runs {
				cells = append(cells, cell{experiment: samplesChapter.name, run: run, config: s.config(loss, train.SampleCount(n), run)})
			}
		}
	}
	curves, err := s.trainAll(ctx, samplesChapter.name, cells, together)
	if err != nil {
		return err
	}
	t := newSheet(append([]string{"data", "loss", "samples", "run", "epoch"}, relevance...)...)
	for i, c := range cells {
		for _, e := range curves[i] {
			t.add(withTest([]any{s.data.ID.Name, c.config.Loss, c.config.Samples, c.run + 1, e.Epoch}, e, relevance)...)
		}
	}
	if err := t.write(s.file(samplesFile)); err != nil {
		return err
	}
	return s.publish(samplesChapter)
}

// leaveOut notes a cell that -without names, if it is not noted already.
func (s *session) leaveOut(loss string, samples int) {
	what := cost{Loss: loss, Samples: samples}.label()
	if !slices.ContainsFunc(s.leftOut, func(l string) bool { return strings.HasPrefix(l, what) }) {
		s.leftOut = append(s.leftOut, what+", named by -without")
	}
}

func samplesTables(dir string) ([]viz.Table, error) {
	t, err := readSheet(dir+"/"+samplesFile, "loss", "samples", "run", "epoch", judge)
	if err != nil {
		return nil, err
	}
	table := viz.Table{Columns: []string{""}}
	for _, n := range t.distinct("samples") {
		table.Columns = append(table.Columns, "N = "+n)
	}
	for _, loss := range t.distinct("loss") {
		row := viz.Row{methodOf(loss).label}
		for _, n := range t.distinct("samples") {
			c, err := curveOf(t.where("loss", loss).where("samples", n), judge)
			if err != nil {
				return nil, err
			}
			row = append(row, bracketed(c.last(), 3))
		}
		table.Rows = append(table.Rows, row)
	}
	t = t.where("loss", t.rows[0][slices.Index(t.columns, "loss")])
	epochs := t.distinct("epoch")
	table.Title = fmt.Sprintf("DCG@5 after %s epochs, mean and (standard deviation) of %d runs", epochs[len(epochs)-1], len(t.distinct("run")))
	return []viz.Table{table}, nil
}

func samplesPlots(dir string) ([]figure, error) {
	t, err := readSheet(dir+"/"+samplesFile, "data", "loss", "samples", "run", "epoch", judge)
	if err != nil {
		return nil, err
	}
	var figures []figure
	for _, n := range t.distinct("samples") {
		p := viz.Plot{Title: fmt.Sprintf("%s, N = %s", t.distinct("data")[0], n), X: "training epoch", Y: "DCG@5"}
		for _, m := range methodsOf(t, methodOf) {
			c, err := curveOf(t.where("loss", m.loss).where("samples", n), judge)
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

// methodsOf are the methods of the losses of a sheet. Their loss is what the sheet
// has.
func methodsOf(t *sheet, of func(loss string) method) []method {
	var list []method
	for _, loss := range t.distinct("loss") {
		m := of(loss)
		m.loss = loss
		list = append(list, m)
	}
	return list
}

// bracketed is the mean of values and, where there are several, their standard
// deviation in brackets.
func bracketed(values []float64, digits int) string {
	mean, sd := meanSD(values)
	if math.IsNaN(mean) {
		return "–"
	}
	text := strconv.FormatFloat(mean, 'f', digits, 64)
	if !math.IsNaN(sd) {
		text += fmt.Sprintf(" (%.*f)", digits, sd)
	}
	return text
}
