package main

import (
	"context"
	"fmt"

	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

const timeFile = "time.csv"

var timeChapter = chapter{
	name:  "time",
	title: "DCG@5 against training time (Figure 2 and Table 2 of the paper)",
	csv:   timeFile,
	reading: "DCG@5 is the one expected under the policy, on the test split, interpolated between epochs. The time is spent on training steps and compiling graphs. N grows from 10 to 100 over 40 epochs, step by step. " +
		"Brackets and bands are one standard deviation over the runs.",
	tables: timeTables,
	plots:  timePlots,
}

// endless is a number of epochs that no run with a limit of time reaches.
const endless = 1_000_000

// runTime trains with every loss for the same time, alone.
func runTime(ctx context.Context, s *session) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	var trials []trial
	for run := range s.Runs { // first, so that what else the machine does is shared fairly
		for _, loss := range s.Losses {
			c := trial{experiment: timeChapter.name, loss: loss, run: run, config: s.config(loss, train.Dynamic, run), seconds: s.Seconds}
			c.config.Epochs = endless
			trials = append(trials, c)
		}
	}
	curves, err := s.trainAll(ctx, timeChapter.name, trials, alone)
	if err != nil {
		return err
	}
	t := newTable(append([]string{"data", "loss", "run", "epoch", "samples", "seconds", "limit"}, relevance...)...)
	for _, loss := range s.Losses {
		for i, c := range trials {
			if c.loss != loss {
				continue
			}
			seconds := 0.0
			for _, e := range curves[i] {
				seconds += e.TrainSeconds
				t.add(withTest([]any{s.data.ID.Name, loss, c.run + 1, e.Epoch, e.Samples, seconds, s.Seconds}, e, relevance)...)
			}
		}
	}
	if err := t.write(s.file(timeFile)); err != nil {
		return err
	}
	return s.publish(timeChapter)
}

func timeTables(dir string) ([]viz.Table, error) {
	t, err := readTable(dir+"/"+timeFile, "loss", "run", "epoch", "seconds", "limit", mainMeasure)
	if err != nil {
		return nil, err
	}
	limit, err := t.floats("limit")
	if err != nil {
		return nil, err
	}
	table := viz.Table{
		Title:   fmt.Sprintf("DCG@5 by seconds of training, mean and (standard deviation) of %d runs", len(t.distinct("run"))),
		Columns: []string{""},
	}
	at := []float64{limit[0] / 4, limit[0] / 2, limit[0]}
	for _, seconds := range at {
		table.Columns = append(table.Columns, short(seconds)+" s")
	}
	table.Columns = append(table.Columns, "epochs")
	var labels []string
	var runs [][]float64
	for _, m := range methodsOf(t, methodOf) {
		part := t.where("loss", m.loss)
		curve, err := timeCurve(part, mainMeasure, at)
		if err != nil {
			return nil, err
		}
		row := viz.Row{m.label}
		var values []float64
		for i := range at {
			if values = curve.at(i); len(values) < len(curve.runs) {
				values = nil // the first epoch of some run took longer
			}
			row = append(row, bracketed(values, 3))
		}
		labels, runs = append(labels, m.label), append(runs, values)
		table.Rows = append(table.Rows, append(row, fmt.Sprintf("%.0f", float64(len(part.rows))/float64(len(curve.runs)))))
	}
	what := fmt.Sprintf("after %s s: %s", short(limit[0]), rowMinusColumn("DCG@5"))
	return withPairs(table, allPairs(labels, runs), what, 3)
}

func timePlots(dir string) ([]figure, error) {
	t, err := readTable(dir+"/"+timeFile, "data", "loss", "run", "epoch", "seconds", "limit", mainMeasure)
	if err != nil {
		return nil, err
	}
	limit, err := t.floats("limit")
	if err != nil {
		return nil, err
	}
	p := viz.Plot{Title: t.distinct("data")[0] + ", dynamic N", X: "seconds trained", Y: "DCG@5"}
	for _, m := range methodsOf(t, methodOf) {
		c, err := timeCurve(t.where("loss", m.loss), mainMeasure, grid(limit[0]))
		if err != nil {
			return nil, err
		}
		p.Series = append(p.Series, c.band(m))
	}
	return []figure{{"time", p}}, nil
}

// grid is points in time up to a limit.
func grid(limit float64) []float64 {
	const points = 200
	at := make([]float64, points)
	for i := range at {
		at[i] = limit * float64(i+1) / points
	}
	return at
}

// timeCurve reads the curve of a measure by training time, at the given times, from
// rows of runs.
func timeCurve(t *csvTable, measure string, at []float64) (curve, error) {
	c := curve{x: at}
	for _, run := range t.distinct("run") {
		rows := t.where("run", run)
		columns, err := rows.numbers("seconds", measure)
		if err != nil {
			return c, err
		}
		line := make([]float64, len(at))
		for i, x := range at {
			line[i] = interpolate(columns[0], columns[1], x)
		}
		c.runs = append(c.runs, line)
	}
	return c, nil
}
