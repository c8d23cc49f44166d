package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

const (
	fairnessFile      = "fairness.csv"
	fairnessTimesFile = "fairness-times.csv" // apart: the same seed gives other times
)

var fairnessChapter = chapter{
	name: "fairness", title: "Disparity (Figure 3 of the paper)", csv: fairnessFile,
	reading: "Disparity is that of the test split, with exposure from 1000 rankings; low is fair. In training, the exposure is from 1000 rankings and its gradient from others, whose number grows from 10 to 100 over 40 epochs; PL-Rank, exact, needs none. " +
		"Brackets and bands are one standard deviation over the runs; seconds are those of training steps. " + welchMarks,
	tables: fairnessTables, plots: fairnessPlots,
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
	curves, err := s.trainAll(ctx, fairnessChapter.name, trials, alone)
	if err != nil {
		return err
	}
	measures := append([]string{disparity}, relevance...)
	t := newTable(append([]string{"data", "loss", "run", "epoch", "samples"}, measures...)...)
	times := newTable("data", "loss", "run", "epoch", "seconds")
	for _, loss := range s.Losses {
		for i, c := range trials {
			if c.loss != fair(loss) {
				continue
			}
			seconds := 0.0
			for _, e := range curves[i] {
				seconds += e.TrainSeconds
				t.add(withTest([]any{s.data.ID.Name, c.loss, c.run + 1, e.Epoch, e.Samples}, e, measures)...)
				times.add(s.data.ID.Name, c.loss, c.run+1, e.Epoch, seconds)
			}
		}
	}
	if err := t.write(s.file(fairnessFile)); err != nil {
		return err
	}
	if err := times.write(s.file(fairnessTimesFile)); err != nil {
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

// readFairness reads both files, and gives the first the seconds of the second.
func readFairness(dir string) (*csvTable, error) {
	t, err := readTable(dir+"/"+fairnessFile, "data", "loss", "run", "epoch", disparity)
	if err != nil {
		return nil, err
	}
	times, err := readTable(dir+"/"+fairnessTimesFile, "data", "loss", "run", "epoch", "seconds")
	if err != nil {
		return nil, err
	}
	t.columns = append(t.columns, "seconds")
	seconds := times.texts("seconds")
	for _, c := range []string{"loss", "run", "epoch"} {
		if !slices.Equal(t.texts(c), times.texts(c)) {
			return nil, fmt.Errorf("reproduce: %s and %s have different rows: column %s differs", t.path, times.path, c)
		}
	}
	for i := range t.rows {
		t.rows[i] = append(t.rows[i], seconds[i])
	}
	return t, nil
}

func fairnessTables(dir string) ([]viz.Table, error) {
	t, err := readFairness(dir)
	if err != nil {
		return nil, err
	}
	c := comparison{}
	var extra []viz.Row
	for _, m := range methodsOf(t, methodOfFair) {
		part := t.where("loss", m.loss)
		curve, err := curveOf(part, disparity)
		if err != nil {
			return nil, err
		}
		times, err := curveOf(part, "seconds")
		if err != nil {
			return nil, err
		}
		// Low is good.
		var minus []float64
		for _, v := range curve.last() {
			minus = append(minus, -v)
		}
		c.add(m, minus)
		perEpoch := times.last()
		for i := range perEpoch {
			perEpoch[i] /= float64(len(times.x))
		}
		extra = append(extra, viz.Row{bracketedShort(curve.last()), bracketedShort(curve.at(0)), bracketedShort(perEpoch)})
	}
	table := c.table("disparity", 3)
	table.Title = fmt.Sprintf("disparity after %d epochs, mean and (standard deviation) of %d runs", len(t.distinct("epoch")), len(t.distinct("run")))
	table.Columns = append(table.Columns, "after the first epoch", "seconds per epoch")
	for i := range table.Rows {
		table.Rows[i][1] = extra[i][0]
		table.Rows[i] = append(table.Rows[i], extra[i][1:]...)
	}
	return c.withPairs(table, "minus the disparity", 5)
}

func fairnessPlots(dir string) ([]figure, error) {
	t, err := readFairness(dir)
	if err != nil {
		return nil, err
	}
	byEpoch := viz.Plot{Title: t.distinct("data")[0] + ", dynamic N", X: "training epoch", Y: "disparity"}
	byTime := viz.Plot{Title: byEpoch.Title, X: "seconds trained", Y: byEpoch.Y}
	for _, m := range methodsOf(t, methodOfFair) {
		part := t.where("loss", m.loss)
		c, err := curveOf(part, disparity)
		if err != nil {
			return nil, err
		}
		byEpoch.Series = append(byEpoch.Series, c.band(m))
		times, err := curveOf(part, "seconds")
		if err != nil {
			return nil, err
		}
		// Up to the end of the fastest run.
		if c, err = timeCurve(part, disparity, grid(slices.Min(times.last()))); err != nil {
			return nil, err
		}
		byTime.Series = append(byTime.Series, c.band(m))
	}
	return []figure{{"fairness-epochs", byEpoch}, {"fairness-time", byTime}}, nil
}
