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
				if v := s.Value(i, m); math.IsNaN(v) {
					fmt.Fprint(tw, "–\t")
				} else {
					fmt.Fprintf(tw, "%.4f\t", v)
				}
			}
			fmt.Fprintln(tw)
		}
		tw.Flush()
	}
	fmt.Fprintf(w, "\n%s (-convention %s).\n", r.LabelFree(), r.Convention)
	fmt.Fprintln(w, "expected-… is the mean over rankings sampled from the policy, the others are of the ranking by descending score.")
}
