package compare

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

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
		if p.Most == nil {
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

// shortNames returns the paths of the files without the folders in which all are, and without the names that all have.
func (f *findings) shortNames() (names []string) {
	var paths [][]string
	for _, r := range f.Runs {
		paths = append(paths, strings.Split(filepath.ToSlash(r.File), "/"))
	}
	trim := func(at func(path []string) string, cut func(path []string) []string) {
		for !slices.ContainsFunc(paths, func(path []string) bool { return len(path) < 2 || at(path) != at(paths[0]) }) {
			for i, path := range paths {
				paths[i] = cut(path)
			}
		}
	}
	trim(func(path []string) string { return path[0] }, func(path []string) []string { return path[1:] })
	trim(func(path []string) string { return path[len(path)-1] }, func(path []string) []string { return path[:len(path)-1] })
	for _, path := range paths {
		names = append(names, strings.Join(path, "/"))
	}
	return names
}

// draw draws the differences of every pair, sorted.
func (f *findings) draw(path string) error {
	p := viz.Plot{Title: "Differences by query, from the highest", X: "queries", Y: "difference of " + f.Metric}
	p.Series = []viz.Series{{Style: viz.Guide, X: []float64{1, float64(f.Queries)}, Y: []float64{0, 0}}}
	names := f.shortNames()
	for _, pair := range f.Pairs {
		s := viz.Series{Name: names[pair.A] + " − " + names[pair.B]}
		for q, a := range f.values[pair.A] {
			s.Y = append(s.Y, a-f.values[pair.B][q])
		}
		slices.SortFunc(s.Y, func(x, y float64) int { return cmp.Compare(y, x) })
		p.Series = append(p.Series, s)
	}
	return p.Save(path)
}
