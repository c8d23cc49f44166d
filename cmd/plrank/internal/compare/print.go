package compare

import (
	"fmt"
	"io"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/cmd/internal/report"
	"github.com/plrank/plrank/viz"
)

// letter is the name of a run in tables.
func letter(run int) string { return string(rune('A' + run)) }

func (p pair) name() string { return letter(p.A) + " − " + letter(p.B) }

func (f *findings) print(w io.Writer) {
	var letters []string
	for i, r := range f.Runs {
		letters = append(letters, letter(i))
		fmt.Fprintf(w, "%s: %s\n", letter(i), r.File)
	}
	fmt.Fprintln(w, "\nmeans, of the queries that have a value in all files")
	cli.PrintTable(w, f.metrics, letters, func(metric, run int) string { return cli.FormatValue(f.Runs[run].Means[f.metrics[metric]]) })
	less := ""
	if f.LowerIsBetter {
		less = " (less is better)"
	}
	fmt.Fprintf(w, "\ndifferences of %s, %d queries%s\n", f.Metric, f.Queries, less)
	fmt.Fprint(w, report.Pairs(f.comparisons, letter))
	for _, p := range f.Pairs {
		if len(p.Most) == 0 {
			continue
		}
		fmt.Fprintf(w, "\nqueries on which %s and %s differ most\n", letter(p.A), letter(p.B))
		table := viz.Table{Columns: []string{"query", letter(p.A), letter(p.B), p.name()}}
		for _, q := range p.Most {
			table.Rows = append(table.Rows, viz.Row{q.ID, float64(q.A), float64(q.B), float64(q.A - q.B)})
		}
		fmt.Fprint(w, table)
	}
	fmt.Fprintln(w)
	cli.PrintNote(w, fmt.Sprintf("t-test, Fisher: p-values of the paired t-test and of Fisher's randomization test. Holm: the p-value "+
		"before it, adjusted for all comparisons (%d). Intervals are bootstrap intervals of one comparison each. w/t/l: wins, ties, losses, "+
		"in queries.", len(f.Pairs)))
}
