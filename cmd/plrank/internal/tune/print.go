package tune

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

// byRecipe is in the table where a trial leaves a flag to the recipe.
const byRecipe = "recipe"

// print prints all trials, the best first, and the command for that.
func (s *search) print(w io.Writer) error {
	best := s.best()
	var words []string // of the command for the best
	if best != nil {
		words = slices.Concat([]string{"plrank", "train"}, s.shared, s.metric, best.Flags)
		if s.out != "" {
			words = append(words, "-out="+filepath.Join(s.out, "best"))
		}
	}
	if s.asJSON {
		return cli.PrintJSON(w, struct {
			Metric  string   `json:"metric"`
			Trials  []*trial `json:"trials"`  // the best first
			Command []string `json:"command"` // null: no trial is complete
		}{s.common.Metric, s.ranked(), words})
	}
	table := viz.Table{Columns: slices.Concat([]string{s.common.Metric, "epoch"}, s.report)}
	for _, c := range s.grid {
		table.Columns = append(table.Columns, c.flag)
	}
	table.Columns = append(table.Columns, "end", "seconds")
	for _, t := range s.ranked() {
		row := viz.Row{cli.FormatValue(t.Value), t.Epoch}
		for _, name := range s.report {
			value, known := t.Report[name]
			if !known { // of a trial that failed, or of an older version
				value = train.Value(math.NaN())
			}
			row = append(row, cli.FormatValue(value))
		}
		for _, c := range s.grid {
			value := byRecipe
			for _, f := range t.Flags {
				if of, found := strings.CutPrefix(f, "-"+c.flag+"="); found {
					value = cmp.Or(of, `""`)
				}
			}
			row = append(row, value)
		}
		table.Rows = append(table.Rows, append(row, t.End, fmt.Sprintf("%.1f", t.Seconds)))
	}
	if s.done != nil {
		fmt.Fprint(w, table)
	}
	if best == nil {
		_, err := fmt.Fprintf(w, "%d trials, and none is complete\n", len(s.done))
		return err
	}
	_, err := fmt.Fprintf(w, "\nthe best of %d trials, with its model and the metrics of all splits:\n  %s\n", len(s.done), command.Line(words))
	return err
}
