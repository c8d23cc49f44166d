package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

const timeFile = "time.csv"

var timeChapter = chapter{
	name: "time", title: "DCG@5 against training time (Figure 2 and Table 2 of the paper)", csv: timeFile,
	reading: "DCG@5 is the one expected under the policy, on the test split, interpolated between epochs. The time is that of training steps and of compiling graphs. " +
		"Brackets and bands are one standard deviation over the runs. " + welchMarks + " Runs of one number share a seed, which this test does not use.",
	tables: timeTables, plots: timePlots,
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
	c := comparison{}
	var epochs []string
	for _, m := range methodsOf(t, methodOf) {
		part := t.where("loss", m.loss)
		curve, err := timeCurve(part, mainMeasure, limit[:1])
		if err != nil {
			return nil, err
		}
		last := curve.last()
		if len(last) < len(curve.runs) {
			last = nil // the first epoch of some run took longer
		}
		c.add(m, last)
		epochs = append(epochs, fmt.Sprintf("%.0f", float64(len(part.rows))/float64(len(part.distinct("run")))))
	}
	table := c.table("DCG@5", 3)
	table.Title = fmt.Sprintf("DCG@5 after %s seconds of training, mean and (standard deviation) of %d runs", short(limit[0]), len(t.distinct("run")))
	table.Columns = append(table.Columns, "epochs")
	for i := range table.Rows {
		table.Rows[i] = append(table.Rows[i], epochs[i])
	}
	return c.withPairs(table, "DCG@5", 3)
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
		seconds, err := rows.floats("seconds")
		if err != nil {
			return c, err
		}
		values, err := rows.floats(measure)
		if err != nil {
			return c, err
		}
		line := make([]float64, len(at))
		for i, x := range at {
			line[i] = interpolate(seconds, values, x)
		}
		c.runs = append(c.runs, line)
	}
	return c, nil
}

// A comparison is of the final values of several methods, of which higher ones are
// better.
type comparison struct {
	methods []method
	runs    [][]float64
}

func (c *comparison) add(m method, runs []float64) {
	c.methods, c.runs = append(c.methods, m), append(c.runs, runs)
}

// table compares each method with the best one, and with that of the paper's table.
func (c *comparison) table(measure string, digits int) viz.Table {
	best, base := -1, -1
	for i, m := range c.methods {
		mean, _ := meanSD(c.runs[i])
		if math.IsNaN(mean) {
			continue
		}
		if best < 0 || mean > first(meanSD(c.runs[best])) {
			best = i
		}
		if methodOfFair(m.loss).loss == reference {
			base = i
		}
	}
	table := viz.Table{Columns: []string{"", measure, "against the best", "against " + methodOf(reference).label}}
	for i, m := range c.methods {
		row := viz.Row{m.label, bracketed(c.runs[i], digits)}
		for _, other := range []int{best, base} {
			switch {
			case other < 0:
				row = append(row, "")
			case i == other:
				row = append(row, "·")
			default:
				row = append(row, marking(c.runs[i], c.runs[other]))
			}
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// withPairs is a table and, where runs can be paired, that of the pairs of all methods with
// the reference.
func (c *comparison) withPairs(table viz.Table, measure string, digits int) ([]viz.Table, error) {
	base := slices.IndexFunc(c.methods, func(m method) bool { return methodOfFair(m.loss).loss == reference })
	tables := []viz.Table{table}
	if base < 0 {
		return tables, nil
	}
	p := pairs{columns: []string{measure}}
	for i, m := range c.methods {
		if i != base {
			p.add(len(p.rows), 0, c.runs[i], c.runs[base])
			p.rows = append(p.rows, m.label)
		}
	}
	more, err := p.table(minusReference(measure), digits)
	if more != nil {
		tables = append(tables, *more)
	}
	return tables, err
}

// marking is the mark of a comparison with its p-value.
func marking(runs, others []float64) string {
	m := mark(runs, others)
	if m == "" {
		return ""
	}
	return fmt.Sprintf("%s (p = %.2g)", m, welch(runs, others))
}
