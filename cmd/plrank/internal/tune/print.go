package tune

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

// byRecipe is in the table where a trial leaves a flag to the recipe.
const byRecipe = "recipe"

// print prints all trials, the best first, and the command for that; or if there are several measures, for each trial of
// their frontier.
func (s *search) print(w io.Writer, measures []string, asJSON bool, out string) error {
	best := s.best()
	var words []string // of the command for the best
	if best != nil {
		words = s.command(best, out, "best")
	}
	if asJSON {
		return cli.PrintJSON(w, struct {
			Metric  string   `json:"metric"`
			Trials  []*trial `json:"trials"`  // the best first
			Command []string `json:"command"` // null: no trial is complete
		}{s.common.Metric, s.ranked(), words})
	}
	s.printTable(w)
	if best == nil {
		fmt.Fprintf(w, "%d trials, and none is complete\n", len(s.done))
		return nil
	}
	fmt.Fprintln(w)
	last := ""
	if s.folds == 1 && best.End == complete && best.Epoch == best.Of {
		last = "; its best epoch is the last: more may help (-epochs)"
	}
	if measures == nil {
		cli.PrintNote(w, fmt.Sprintf("the best of %d trials, with its model and the metrics of all splits%s:", len(s.done), last))
		fmt.Fprintf(w, "  %s\n", command.Line(words))
		return nil
	}
	cli.PrintNote(w, fmt.Sprintf("*: no other trial is as good in all of %s, and better in one. These trials, with their models and the "+
		"metrics of all splits:", strings.Join(measures, ", ")))
	for i, t := range s.ranked() {
		if t.Frontier {
			fmt.Fprintf(w, "  %s\n", command.Line(s.command(t, out, fmt.Sprintf("trial%d", i+1))))
		}
	}
	return nil
}

// command returns the words of the command that trains with the settings of a trial, into a folder within out, unless that is empty.
func (s *search) command(t *trial, out, folder string) []string {
	words := slices.Concat([]string{"plrank", "train"}, s.shared, s.metric, t.Flags)
	if out != "" {
		words = append(words, "-out="+filepath.Join(out, folder))
	}
	return words
}

func (s *search) printTable(w io.Writer) {
	ranked := s.ranked()
	if ranked == nil {
		return
	}
	columns := slices.Concat([]string{s.common.Metric}, s.report, []string{"epoch"})
	for _, c := range s.grid {
		columns = append(columns, c.flag)
	}
	columns = append(columns, "end", "seconds")
	var names []string
	var rows [][]string
	for i, t := range ranked {
		name := strconv.Itoa(i + 1)
		if t.Frontier {
			name += " *"
		}
		var row []string
		for _, measure := range append([]string{s.common.Metric}, s.report...) {
			row = append(row, cli.FormatValue(train.Value(s.value(t, measure))))
		}
		row = append(row, strconv.Itoa(t.Epoch))
		for _, c := range s.grid {
			row = append(row, t.flag(c.flag))
		}
		names, rows = append(names, name), append(rows, append(row, t.End, fmt.Sprintf("%.1f", t.Seconds)))
	}
	cli.PrintTable(w, names, columns, func(row, column int) string { return rows[row][column] })
}

// flag returns the value of a flag in a trial.
func (t *trial) flag(name string) string {
	for _, f := range t.Flags {
		if value, found := strings.CutPrefix(f, "-"+name+"="); found {
			return cmp.Or(value, `""`)
		}
	}
	return byRecipe
}

// draw draws the trials, with their numbers in the table, and a line through the frontier.
func (s *search) draw(path string) error {
	frontier, others := viz.Series{Name: "frontier", Style: viz.LinePoints}, viz.Series{Name: "other trials", Style: viz.Points}
	ranked := s.ranked()
	order := make([]int, len(ranked))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(s.value(ranked[a], s.report[0]), s.value(ranked[b], s.report[0]))
	})
	for _, i := range order {
		series := &others
		if ranked[i].Frontier {
			series = &frontier
		}
		series.X, series.Y = append(series.X, s.value(ranked[i], s.report[0])), append(series.Y, float64(ranked[i].Value))
		series.Texts = append(series.Texts, strconv.Itoa(i+1))
	}
	plot := viz.Plot{Title: "Trials, on the validation split", X: s.report[0], Y: s.common.Metric, Series: []viz.Series{frontier}}
	if others.X != nil {
		plot.Series = append(plot.Series, others)
	}
	return plot.Save(path)
}
