package cli

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train"
)

// PrintReport prints a table of all splits.
func PrintReport(w io.Writer, r *train.Report) {
	fmt.Fprintln(w)
	var splits, rankers []string
	for _, s := range r.Splits {
		what := "relevant document"
		if s.Fractional > 0 {
			what = "document of a gain above 0"
		}
		fmt.Fprintf(w, "%s: %d queries (%d with a %s), %d documents\n", s.Name, s.Queries, s.Relevant, what, s.Documents)
		if threshold := s.Threshold(); threshold != "" {
			PrintNote(w, threshold)
		}
		if splits = append(splits, s.Name); len(s.Rankers) > len(rankers) { // base scores may be of some splits only
			rankers = s.Rankers
		}
	}
	measured := *r
	measured.Metrics = slices.DeleteFunc(slices.Clone(r.Metrics), func(metric string) bool { // of clicks alone, all but the loss
		return !slices.ContainsFunc(r.Splits, func(s train.SplitReport) bool {
			return slices.ContainsFunc(s.Rows, func(v train.Values) bool { _, ok := v[metric]; return ok })
		})
	})
	printMetrics(w, measured.Metrics, rankers, splits, func(split, ranker int, metric string) string {
		s := r.Splits[split]
		if ranker = slices.Index(s.Rankers, rankers[ranker]); ranker >= 0 {
			if v, ok := s.Rows[ranker][metric]; ok {
				return FormatValue(v)
			}
		}
		return ""
	})
	printConvention(w, &measured)
}

// PrintFolds prints a table of all splits, and one of the last split by fold.
func PrintFolds(w io.Writer, r *FoldReport) {
	fmt.Fprintf(w, "\nmean ± standard deviation, folds %s\n", strings.Trim(fmt.Sprint(r.Folds), "[]"))
	last := r.Splits[len(r.Splits)-1]
	var splits, folds []string
	for _, s := range r.Splits {
		splits = append(splits, s.Name)
	}
	printMetrics(w, r.Metrics, last.Rankers, splits, func(split, ranker int, metric string) string {
		v := r.Splits[split].Rows[ranker][metric]
		if math.IsNaN(float64(v.Mean)) && ranker < len(last.Rankers)-1 {
			return "" // maybe it has none
		}
		return FormatValue(v.Mean) + " ±" + FormatValue(v.SD)
	})
	fmt.Fprintf(w, "\n%s: the model by fold\n", last.Name)
	for _, fold := range r.Folds {
		folds = append(folds, fmt.Sprintf("fold %d", fold))
	}
	PrintTable(w, r.Metrics, folds, func(metric, fold int) string {
		return FormatValue(last.Rows[len(last.Rankers)-1][r.Metrics[metric]].Values[fold])
	})
	printConvention(w, &train.Report{LabelFree: r.LabelFree, Metrics: r.Metrics})
}

const (
	missing = "–"
	model   = "model"
)

// label returns what tables call a ranker of a report: a short name, which does not get longer with names of features.
func label(rankers []string, i int) string {
	switch name := rankers[i]; {
	case i == len(rankers)-1 && name != "scores":
		return model
	case strings.HasPrefix(name, "feature ") || name == bestFeature:
		return "best feature"
	default:
		return name
	}
}

// printMetrics prints metrics down, with a line for each ranker, and splits across; or rankers across, if there is one split.
// It leaves out lines whose values are all "". Above the table it says what is behind the names of rankers.
func printMetrics(w io.Writer, names, rankers, splits []string, value func(split, ranker int, metric string) string) {
	var labels, meanings []string
	for i, name := range rankers {
		labels = append(labels, label(rankers, i))
		if labels[i] != name && name != bestFeature {
			meanings = append(meanings, labels[i]+": "+name)
		}
	}
	if meanings != nil {
		PrintNote(w, strings.Join(meanings, "; "))
	}
	if len(splits) == 1 {
		PrintTable(w, names, labels, func(i, ranker int) string { return cmp.Or(value(0, ranker, names[i]), missing) })
		return
	}
	type row struct {
		metric string
		ranker int
	}
	var rows []row
	var left, right []string // parts of the lines' names
	for _, metric := range names {
		first := metric
		for i := range rankers {
			known := false
			for split := range splits {
				known = known || value(split, i, metric) != ""
			}
			if known {
				rows, left, right = append(rows, row{metric, i}), append(left, first), append(right, labels[i])
				first = ""
			}
		}
	}
	alignLeft(left)
	for i, name := range alignLeft(right) {
		left[i] += " " + name // so that folds with metrics of two digits, as of DCG, fit 80 columns
	}
	PrintTable(w, left, splits, func(i, split int) string { return cmp.Or(value(split, rows[i].ranker, rows[i].metric), missing) })
}

// PrintTable prints rows of values under columns, aligned right. Columns for which a line has no room, see
// [command.Columns], follow below the others, next to the names of the rows again.
func PrintTable(w io.Writer, rows, columns []string, value func(row, column int) string) {
	width := TableWidth(w)
	names := alignLeft(append([]string{""}, rows...))
	lines := slices.Clone(names)
	for c, name := range columns {
		entries := []string{name}
		for row := range rows {
			entries = append(entries, value(row, c))
		}
		longest := longest(entries)
		if c > 0 && utf8.RuneCountInString(lines[0])+2+longest > width {
			fmt.Fprintln(w, strings.Join(lines, "\n"))
			copy(lines, names)
		}
		for i, entry := range entries {
			lines[i] += fmt.Sprintf("  %*s", longest, entry)
		}
	}
	fmt.Fprintln(w, strings.Join(lines, "\n"))
}

// alignLeft pads texts to the length of the longest.
func alignLeft(texts []string) []string {
	width := longest(texts)
	for i, t := range texts {
		texts[i] = fmt.Sprintf("%-*s", width, t)
	}
	return texts
}

// longest returns the length of the longest text, in characters.
func longest(texts []string) (width int) {
	for _, t := range texts {
		width = max(width, utf8.RuneCountInString(t))
	}
	return width
}

// FormatValue returns a value as tables have it: NaN as a dash.
func FormatValue(v train.Value) string {
	if math.IsNaN(float64(v)) {
		return missing
	}
	return fmt.Sprintf("%.4f", float64(v))
}

// printConvention prints what is below the tables: what they do not say by themselves.
func printConvention(w io.Writer, r *train.Report) {
	fmt.Fprintln(w)
	with := func(wanted func(metric string) bool) (list []string) {
		for _, metric := range r.Metrics {
			if wanted(metric) {
				list = append(list, metric)
			}
		}
		return list
	}
	isLoss := func(metric string) bool { return metric == train.LossMetric }
	if len(with(isLoss)) < len(r.Metrics) {
		PrintNote(w, fmt.Sprintf("%s (-convention %s).", r.LabelFreeNote(), r.LabelFree))
	}
	if with(func(metric string) bool { return strings.HasPrefix(metric, "expected-") }) != nil {
		PrintNote(w, "expected-… is the expectation under the policy, the others are of the ranking by descending score.")
	}
	if r.Loss != "" {
		PrintNote(w, fmt.Sprintf("%s is %s, %s.", train.LossMetric, r.Loss, strings.Join(lossesBySplit(r), ", ")))
	}
	if low := with(lowerIsBetter); low != nil {
		PrintNote(w, "Lower is better: "+strings.Join(low, ", ")+".")
	}
	if r.HighestGrade > 0 {
		PrintNote(w, fmt.Sprintf("The highest grade is %v.", r.HighestGrade))
	}
	if r.FeatureQueries > 0 {
		PrintNote(w, fmt.Sprintf("The feature was chosen by %d of the %d training queries.", r.FeatureQueries, r.Splits[0].Queries))
	}
}

// lossesBySplit says by what gains the loss of each split is.
func lossesBySplit(r *train.Report) (list []string) {
	splits := map[bool][]string{} // by whether gains are from clicks
	for _, s := range r.Splits {
		splits[s.FromClicks] = append(splits[s.FromClicks], s.Name)
	}
	for clicks, by := range map[bool]string{true: "gains from clicks", false: "labels"} {
		if names := splits[clicks]; names != nil {
			list = append(list, "by "+by+" on "+strings.Join(names, " and "))
		}
	}
	slices.Sort(list)
	return list
}

// lowerIsBetter reports whether the metric of a report is better where it is lower; sums are not.
func lowerIsBetter(metric string) bool {
	m, err := metrics.ParseMeasure(metric)
	return metric == train.LossMetric || err == nil && m.LowerIsBetter()
}

// PrintNote prints a paragraph that is as wide as tables may be.
func PrintNote(w io.Writer, text string) { fmt.Fprintln(w, command.Wrap(text, TableWidth(w))) }

// TableWidth returns the number of characters that lines of tables have at most.
func TableWidth(w io.Writer) int { return cmp.Or(command.Columns(w), command.Width) }
