package cli

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/train"
)

// PrintReport prints a table for each split.
func PrintReport(w io.Writer, r *train.Report) {
	for _, s := range r.Splits {
		what := "relevant document"
		if s.Fractional > 0 {
			what = "document of a gain above 0"
		}
		fmt.Fprintf(w, "\n%s: %d queries (%d with a %s), %d documents\n", s.Name, s.Queries, s.Relevant, what, s.Documents)
		if threshold := s.Threshold(); threshold != "" {
			fmt.Fprintln(w, threshold)
		}
		missing := func(metric string) bool {
			return !slices.ContainsFunc(s.Rows, func(v train.Values) bool { _, ok := v[metric]; return ok })
		}
		PrintTable(w, s.Rankers, slices.DeleteFunc(slices.Clone(r.Metrics), missing), func(ranker int, metric string) string {
			return FormatValue(train.Value(s.Value(ranker, metric)))
		})
	}
	printConvention(w, r)
}

// PrintFolds prints a table for each split, and one of the last split by fold.
func PrintFolds(w io.Writer, r *FoldReport) {
	for _, s := range r.Splits {
		fmt.Fprintf(w, "\n%s: mean ± standard deviation, folds %s\n", s.Name, strings.Trim(fmt.Sprint(r.Folds), "[]"))
		PrintTable(w, s.Rankers, r.Metrics, func(ranker int, metric string) string {
			v := s.Rows[ranker][metric]
			if math.IsNaN(float64(v.Mean)) {
				return "–"
			}
			return fmt.Sprintf("%.4f ±%s", v.Mean, FormatValue(v.SD))
		})
	}
	last := r.Splits[len(r.Splits)-1]
	model := len(last.Rankers) - 1
	fmt.Fprintf(w, "\n%s: %s by fold\n", last.Name, last.Rankers[model])
	var folds []string
	for _, fold := range r.Folds {
		folds = append(folds, fmt.Sprintf("fold %d", fold))
	}
	PrintTable(w, folds, r.Metrics, func(fold int, metric string) string {
		return FormatValue(last.Rows[model][metric].Values[fold])
	})
	printConvention(w, &train.Report{Convention: r.Convention})
}

// PrintTable prints rows of values under columns, aligned right. Columns beyond [command.Width] follow below the
// others, next to the names of the rows again. Tables of a fixed number of columns are a [viz.Table].
func PrintTable(w io.Writer, rows, columns []string, value func(row int, column string) string) {
	names := alignRight(append([]string{""}, rows...))
	lines := slices.Clone(names)
	for i, c := range columns {
		entries := []string{"  " + c}
		for row := range rows {
			entries = append(entries, "  "+value(row, c))
		}
		entries = alignRight(entries)
		if i > 0 && utf8.RuneCountInString(lines[0]+entries[0]) > command.Width {
			fmt.Fprintln(w, strings.Join(lines, "\n"))
			copy(lines, names)
		}
		for k, e := range entries {
			lines[k] += e
		}
	}
	fmt.Fprintln(w, strings.Join(lines, "\n"))
}

// alignRight pads texts to the length of the longest.
func alignRight(texts []string) []string {
	width := 0
	for _, t := range texts {
		width = max(width, utf8.RuneCountInString(t))
	}
	for i, t := range texts {
		texts[i] = fmt.Sprintf("%*s", width, t)
	}
	return texts
}

// FormatValue returns a value as tables have it: NaN as a dash.
func FormatValue(v train.Value) string {
	if math.IsNaN(float64(v)) {
		return "–"
	}
	return fmt.Sprintf("%.4f", float64(v))
}

// printConvention prints what is below the tables.
func printConvention(w io.Writer, r *train.Report) {
	fmt.Fprintf(w, "\n%s (-convention %s).\n", r.LabelFree(), r.Convention)
	fmt.Fprintln(w, "expected-… is the expectation under the policy, the others are of the ranking by descending score.")
	if r.HighestGrade > 0 {
		fmt.Fprintf(w, "The highest grade is %v.\n", r.HighestGrade)
	}
	if r.FeatureQueries > 0 {
		fmt.Fprintf(w, "The feature was chosen by %d of the %d training queries.\n", r.FeatureQueries, r.Splits[0].Queries)
	}
	for _, m := range r.Metrics {
		var errors []string
		for _, s := range r.Splits {
			if e, ok := s.StdErr[m]; ok {
				errors = append(errors, fmt.Sprintf("%s (%s)", FormatValue(e), s.Name))
			}
		}
		if errors != nil {
			fmt.Fprintf(w, "%s of the model is estimated from sampled rankings, standard error %s.\n", m, strings.Join(errors, ", "))
		}
	}
}
