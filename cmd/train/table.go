package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/plrank/plrank/train"
)

// printReport prints a table for each split.
func printReport(w io.Writer, r *train.Report) {
	for _, s := range r.Splits {
		fmt.Fprintf(w, "\n%s: %d queries (%d with a relevant document), %d documents\n", s.Name, s.Queries, s.Relevant, s.Documents)
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(tw, "\t%s\t\n", strings.Join(r.Metrics, "\t"))
		for i, name := range s.Rankers {
			fmt.Fprint(tw, name, "\t")
			for _, m := range r.Metrics {
				fmt.Fprintf(tw, "%s\t", number(train.Value(s.Value(i, m))))
			}
			fmt.Fprintln(tw)
		}
		tw.Flush()
	}
	printConvention(w, r)
}

// printFolds prints a table for each split, and one of the folds.
func printFolds(w io.Writer, r *train.FoldReport) {
	for _, s := range r.Splits {
		fmt.Fprintf(w, "\n%s: mean ± standard deviation, folds %s\n", s.Name, strings.Trim(fmt.Sprint(r.Folds), "[]"))
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(tw, "\t%s\t\n", strings.Join(r.Metrics, "\t"))
		for i, name := range s.Rankers {
			fmt.Fprint(tw, name, "\t")
			for _, m := range r.Metrics {
				v := s.Rows[i][m]
				if math.IsNaN(float64(v.Mean)) {
					fmt.Fprint(tw, "–\t")
				} else {
					fmt.Fprintf(tw, "%.4f ±%s\t", v.Mean, number(v.SD))
				}
			}
			fmt.Fprintln(tw)
		}
		tw.Flush()
	}
	last := r.Splits[len(r.Splits)-1]
	model := len(last.Rankers) - 1
	fmt.Fprintf(w, "\n%s: %s by fold\n", last.Name, last.Rankers[model])
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "\t%s\t\n", strings.Join(r.Metrics, "\t"))
	for i, fold := range r.Folds {
		fmt.Fprintf(tw, "fold %d\t", fold)
		for _, m := range r.Metrics {
			fmt.Fprintf(tw, "%s\t", number(last.Rows[model][m].Values[i]))
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
	printConvention(w, &train.Report{Convention: r.Convention})
}

// number is a value in a table, where one that there is not is a dash.
func number(v train.Value) string {
	if math.IsNaN(float64(v)) {
		return "–"
	}
	return fmt.Sprintf("%.4f", float64(v))
}

func printConvention(w io.Writer, r *train.Report) {
	fmt.Fprintf(w, "\n%s (-convention %s).\n", r.LabelFree(), r.Convention)
	fmt.Fprintln(w, "expected-… is the expectation under the policy, the others are of the ranking by descending score.")
	for _, m := range r.Metrics {
		var errors []string
		for _, s := range r.Splits {
			if e, ok := s.StdErr[m]; ok {
				errors = append(errors, fmt.Sprintf("%s (%s)", number(e), s.Name))
			}
		}
		if errors != nil {
			fmt.Fprintf(w, "%s of the model is estimated from sampled rankings, standard error %s.\n", m, strings.Join(errors, ", "))
		}
	}
}
