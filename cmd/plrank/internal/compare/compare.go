// Package compare is the sub-command that compares models and runs query by query.
package compare

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/cmd/plrank/internal/evaluate"
	"github.com/plrank/plrank/metrics"
)

var page = cli.Page{
	Command: "compare",
	Usage: []string{
		"FILE FILE … [-metric METRIC]",
		"FILE FILE … -data FILE|DIR | -qrels FILE [-report METRICS]",
		"RUN RUN … -judge FILE -qrels FILE [-metric METRIC]",
	},
	Text: "Compares two or more files query by query: values of plrank evaluate -per-query or of trec_eval -q; or, with -data, models and " +
		"files of scores; or, with -data or -qrels, TREC runs. " +
		"For every two it prints the mean difference of -metric (else of ndcg@10, of map, or of the first that all have) with its interval, " +
		"p-values of the paired t-test and of Fisher's randomization test, wins, ties and losses, and the queries that differ most.",
	Examples: []string{
		"old.csv new.csv",
		"old.npz new.npz lightgbm.scores -data test.txt -metric map",
		"bm25.run dense.run -qrels qrels.txt -gain linear",
	},
	Topics: []string{"comparing"},
	Words:  true,
}

// options are the command line.
type options struct {
	evaluate.Measuring
	files  []string
	metric string // "": see page
	asJSON bool
}

func (o *options) Flags() cli.Flags {
	return append(o.Measuring.Flags(), cli.JSONFlag(&o.asJSON), cli.ThreadsFlag())
}

func (o *options) Check(line *cli.Line) error {
	o.files, o.LastSplit = line.Args(), true
	if line.Given("metric") {
		o.metric = o.Config.Metric
		o.Config.Report = append(o.Config.Report, o.metric) // scores have no expected metrics unasked
	}
	err := cmp.Or(
		cli.ErrorIf(len(o.files) < 2, "want two or more files to compare"),
		cli.ErrorIf(len(o.files) > mostFiles, "%d files: want %d at most", len(o.files), mostFiles),
	)
	if err == nil && !o.measures() {
		err = line.RefuseOthers("without -data or -qrels: values by query are measured already", "metric", "seed", "json", "threads")
	}
	if err != nil || !o.measures() {
		return err
	}
	if o.metric != "" { // not a sum, which is of means over the queries
		if _, err := metrics.ParseMeasure(o.metric); err != nil {
			return fmt.Errorf("-metric: want one metric: %w", err)
		}
	}
	return o.Measuring.Check(line)
}

// measures reports whether there are labels to measure on.
func (o *options) measures() bool { return o.Data != "" || o.Qrels != "" }

// Run runs the sub-command, and returns its exit status.
var Run = cli.Command[options](page)

// Run compares the files. The gain comes from the models unless it is given.
func (o *options) Run(ctx context.Context, line *cli.Line, _ io.Reader, stdout, stderr io.Writer) error {
	if o.Judge != "" {
		return o.Judged(line, o.asJSON, stdout, stderr, o.files...)
	}
	runs, err := o.open()
	if err == nil {
		err = o.agree(runs, line.Given("gain"))
	}
	if err != nil {
		return err
	}
	if o.measures() {
		ofScores := !slices.ContainsFunc(runs, func(r *run) bool { return r.model != nil })
		if err := o.WarnIdle(line, ofScores, true, stderr); err != nil { // resamples are drawn
			return err
		}
	}
	for _, r := range runs {
		if err := o.measure(ctx, r, stderr); err != nil {
			return err
		}
	}
	found, err := o.find(ctx, runs, stderr)
	if err != nil {
		return err
	}
	if o.asJSON {
		return cli.PrintJSON(stdout, found)
	}
	found.print(stdout)
	return nil
}
