package main

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

const fairnessFile = "fairness.csv"

var fairnessChapter = chapter{
	name:  "fairness",
	title: "Disparity (Figure 3 of the paper)",
	csv:   fairnessFile,
	reading: "Disparity is measured on the test split, with exposure from 1000 rankings; low is fair. In training, the exposure is from 1000 rankings and its gradient from others, whose number grows from 10 to 100 over 40 epochs, step by step; PL-Rank, exact, needs none. " +
		"Brackets and bands are one standard deviation over the runs.",
	tables: fairnessTables,
	plots:  fairnessPlots,
}

// runFairness optimises the disparity with every estimator, for fixed numbers of
// samples if any are asked for; or mixtures of relevance and disparity.
func runFairness(ctx context.Context, s *session) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	if len(s.Weights) > 0 {
		return s.runFrontier(ctx)
	}
	if s.FixedSamples {
		return s.runFairnessSamples(ctx)
	}
	var trials []trial
	for run := range s.Runs {
		for _, loss := range s.Losses {
			trials = append(trials, trial{experiment: fairnessChapter.name, loss: fair(loss), run: run, config: s.fairConfig(fair(loss), run)})
		}
	}
	curves, err := s.trainAll(ctx, fairnessChapter.name, trials, sideBySide)
	if err != nil {
		return err
	}
	measures := append([]string{disparity}, relevance...)
	t := newTable(append([]string{"data", "loss", "run", "epoch", "samples"}, measures...)...)
	for _, loss := range s.Losses {
		for i, c := range trials {
			if c.loss != fair(loss) {
				continue
			}
			for _, e := range curves[i] {
				t.add(withTest([]any{s.data.ID.Name, c.loss, c.run + 1, e.Epoch, e.Samples}, e, measures)...)
			}
		}
	}
	if err := t.write(s.file(fairnessFile)); err != nil {
		return err
	}
	return s.publish(fairnessChapter)
}

// fairConfig is config with a growing number of samples, and the disparity reported.
func (o *options) fairConfig(loss string, run int) train.Config {
	c := o.config(loss, train.Dynamic, run)
	c.Report = []string{disparity}
	return c
}

func readFairness(dir string) (*csvTable, error) {
	return readTable(dir+"/"+fairnessFile, "data", "loss", "run", "epoch", disparity)
}

func fairnessTables(dir string) ([]viz.Table, error) {
	t, err := readFairness(dir)
	if err != nil {
		return nil, err
	}
	table := viz.Table{
		Title: fmt.Sprintf(
			"disparity after %d epochs, mean and (standard deviation) of %d runs",
			len(t.distinct("epoch")),
			len(t.distinct("run")),
		),
		Columns: []string{"", "disparity", "after the first epoch"},
	}
	methods := methodsOf(t, methodOfFair)
	var minus [][]float64 // low is good
	for _, m := range methods {
		c, err := curveOf(t.where("loss", m.loss), disparity)
		if err != nil {
			return nil, err
		}
		last := c.last()
		table.Rows = append(table.Rows, viz.Row{m.label, bracketedShort(last), bracketedShort(c.at(0))})
		floats.Scale(-1, last)
		minus = append(minus, last)
	}
	p := &pairs{columns: []string{"minus the disparity"}}
	base := slices.IndexFunc(methods, func(m method) bool { return methodOfFair(m.loss).loss == reference })
	for i, m := range methods {
		if base >= 0 && i != base {
			p.add(len(p.rows), 0, minus[i], minus[base])
			p.rows = append(p.rows, m.label)
		}
	}
	return withPairs(table, p, minusReference(p.columns[0]), 5)
}

func fairnessPlots(dir string) ([]figure, error) {
	t, err := readFairness(dir)
	if err != nil {
		return nil, err
	}
	p := viz.Plot{Title: t.distinct("data")[0] + ", dynamic N", X: "training epoch", Y: "disparity"}
	for _, m := range methodsOf(t, methodOfFair) {
		c, err := curveOf(t.where("loss", m.loss), disparity)
		if err != nil {
			return nil, err
		}
		p.Series = append(p.Series, c.band(m))
	}
	return []figure{{"fairness-epochs", p}}, nil
}
