package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/plrank/plrank/viz"
)

const frontierFile = "frontier.csv"

var frontierChapter = chapter{
	name: "frontier", title: "Relevance and fairness", csv: frontierFile,
	reading: "The loss is plrank-rb+w·disparity; the measures are of the test split.",
	tables:  frontierTables, plots: frontierPlots,
}

// runFrontier trains with mixtures of relevance and disparity.
func (s *session) runFrontier(ctx context.Context) error {
	var trials []trial
	var of []float64 // weight
	for _, w := range s.Weights {
		for run := range s.Runs {
			trials = append(trials, trial{experiment: frontierChapter.name, loss: mixture(w), run: run, config: s.fairConfig(mixture(w), run)})
			of = append(of, w)
		}
	}
	curves, err := s.trainAll(ctx, frontierChapter.name, trials, sideBySide)
	if err != nil {
		return err
	}
	measures := append([]string{disparity}, relevance...)
	t := newTable(append([]string{"data", "weight", "run", "epoch"}, measures...)...)
	for i, c := range trials {
		last := curves[i][len(curves[i])-1]
		t.add(withTest([]any{s.data.ID.Name, of[i], c.run + 1, last.Epoch}, last, measures)...)
	}
	if err := t.write(s.file(frontierFile)); err != nil {
		return err
	}
	return s.publish(frontierChapter)
}

// mixture is the loss with that weight of disparity.
func mixture(w float64) string {
	return fmt.Sprintf("plrank-rb+%s*disparity", strconv.FormatFloat(w, 'f', -1, 64))
}

func frontierTables(dir string) ([]viz.Table, error) {
	t, err := readTable(dir+"/"+frontierFile, "weight", "run", "epoch", disparity, mainMeasure, "expected-ndcg@5")
	if err != nil {
		return nil, err
	}
	table := viz.Table{
		Title:   fmt.Sprintf("after %s epochs, mean and (standard deviation) of %d runs", t.texts("epoch")[0], len(t.distinct("run"))),
		Columns: []string{"w", "disparity", "DCG@5", "NDCG@5"},
	}
	for _, w := range t.distinct("weight") {
		row := viz.Row{w}
		for _, m := range []string{disparity, mainMeasure, "expected-ndcg@5"} {
			values, err := t.where("weight", w).floats(m)
			if err != nil {
				return nil, err
			}
			if m == disparity {
				row = append(row, bracketedShort(values))
			} else {
				row = append(row, bracketed(values, 3))
			}
		}
		table.Rows = append(table.Rows, row)
	}
	return []viz.Table{table}, nil
}

func frontierPlots(dir string) ([]figure, error) {
	t, err := readTable(dir+"/"+frontierFile, "data", "weight", disparity, mainMeasure, "expected-ndcg@5")
	if err != nil {
		return nil, err
	}
	var figures []figure
	for _, of := range []struct{ name, measure, label string }{{"frontier-dcg", mainMeasure, "DCG@5"}, {"frontier-ndcg", "expected-ndcg@5", "NDCG@5"}} {
		points := viz.Series{Name: "weight of disparity", Style: viz.Points, Color: methodOf("plrank-rb").color}
		for _, w := range t.distinct("weight") {
			columns, err := t.where("weight", w).numbers(disparity, of.measure)
			if err != nil {
				return nil, err
			}
			x, sdX := meanSD(columns[0])
			y, sdY := meanSD(columns[1])
			points.X, points.Left, points.Right = append(points.X, x), append(points.Left, x-sdX), append(points.Right, x+sdX)
			points.Y, points.Low, points.High = append(points.Y, y), append(points.Low, y-sdY), append(points.High, y+sdY)
			points.Texts = append(points.Texts, w)
		}
		figures = append(figures, figure{of.name, viz.Plot{
			Title: t.distinct("data")[0] + ", PL-Rank-RB", X: "disparity", Y: of.label,
			Series: []viz.Series{{X: points.X, Y: points.Y, Style: viz.Guide}, points},
		}})
	}
	return figures, nil
}
