package main

import (
	"context"
	"fmt"

	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

const fairnessSamplesFile = "fairness-samples.csv"

var fairnessSamplesChapter = chapter{
	name:    "fairness-samples",
	title:   "Disparity with fixed numbers of samples",
	csv:     fairnessSamplesFile,
	reading: "Disparity is measured on the test split, with exposure from 1000 rankings; low is fair. In training, the exposure is from 1000 rankings and its gradient from N others.",
	tables:  fairnessSamplesTables,
	plots:   fairnessSamplesPlots,
}

// runFairnessSamples optimises the disparity with every estimator and number of
// samples.
func (s *session) runFairnessSamples(ctx context.Context) error {
	var trials []trial
	var of []string // loss
	for _, loss := range s.Losses {
		for _, n := range s.Samples {
			for run := range s.Runs {
				c := s.fairConfig(fair(loss), run)
				c.Samples = train.SampleCount(n)
				trials = append(trials, trial{experiment: fairnessSamplesChapter.name, loss: fair(loss), run: run, config: c})
				of = append(of, loss)
			}
		}
	}
	curves, err := s.trainAll(ctx, fairnessSamplesChapter.name, trials, sideBySide)
	if err != nil {
		return err
	}
	measures := append([]string{disparity}, relevance...)
	t := newTable(append([]string{"data", "loss", "samples", "run", "epoch"}, measures...)...)
	for i, c := range trials {
		for _, e := range curves[i] {
			t.add(withTest([]any{s.data.ID.Name, of[i], c.config.Samples, c.run + 1, e.Epoch}, e, measures)...)
		}
	}
	if err := t.write(s.file(fairnessSamplesFile)); err != nil {
		return err
	}
	return s.publish(fairnessSamplesChapter)
}

// A fixedCurve is the disparity by epoch of a method with a number of samples.
type fixedCurve struct {
	curve
	method method
	n      string
}

func fixedCurves(dir string) (*csvTable, []fixedCurve, error) {
	t, err := readTable(dir+"/"+fairnessSamplesFile, "data", "loss", "samples", "run", "epoch", disparity)
	if err != nil {
		return nil, nil, err
	}
	var list []fixedCurve
	for _, m := range methodsOf(t, methodOf) {
		part := t.where("loss", m.loss)
		for _, n := range part.distinct("samples") {
			c, err := curveOf(part.where("samples", n), disparity)
			if err != nil {
				return nil, nil, err
			}
			list = append(list, fixedCurve{c, m, n})
		}
	}
	return t, list, nil
}

func fairnessSamplesTables(dir string) ([]viz.Table, error) {
	t, curves, err := fixedCurves(dir)
	if err != nil {
		return nil, err
	}
	table := viz.Table{
		Title:   fmt.Sprintf("disparity by epoch, mean and (standard deviation) of %d runs", len(t.distinct("run"))),
		Columns: []string{"", "N"},
	}
	places := doublings(len(curves[0].x))
	for _, i := range places {
		table.Columns = append(table.Columns, fmt.Sprint(i+1))
	}
	for _, c := range curves {
		row := viz.Row{c.method.label, c.n}
		for _, i := range places {
			row = append(row, bracketed(c.at(i), 4))
		}
		table.Rows = append(table.Rows, row)
	}
	return []viz.Table{table}, nil
}

func fairnessSamplesPlots(dir string) ([]figure, error) {
	t, curves, err := fixedCurves(dir)
	if err != nil {
		return nil, err
	}
	p := viz.Plot{Title: t.distinct("data")[0], X: "training epoch", Y: "disparity"}
	for _, c := range curves {
		s := c.band(c.method)
		s.Name += ", N = " + c.n
		s.Color = 0 // methods come more than once
		p.Series = append(p.Series, s)
	}
	return []figure{{"fairness-samples", p}}, nil
}
