// Package evaluate is the sub-command that measures a model, or scores, on labelled data.
package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/cmd/internal/report"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

var page = cli.Page{
	Command: "evaluate",
	Usage: []string{
		"-model FILE -data FILE|DIR [-report METRICS] [-per-query FILE]",
		"-scores FILE -data FILE | -scores RUN -qrels FILE [-judge FILE]",
	},
	Text: "Prints the metrics of a model on every split of a collection, or on all of a file, next to random order; or the metrics of " +
		"scores from any ranker. The gain and the highest grade come from the model unless they are given.",
	Examples: []string{
		"-model runs/fold1/model.npz -data MQ2008/Fold1/test.txt",
		"-model model.npz -data MQ2008 -fold 1 -report map,expected-err@10",
		"-scores lightgbm.scores -data test.txt -per-query old.csv",
		"-model model.npz -data test.txt -importance -plot importance.svg",
	},
}

// options are the command line.
type options struct {
	Measuring
	model, scores      string
	perQuery           string // file
	importance, asJSON bool
	plot               cli.Plot
}

func (o *options) Flags() cli.Flags {
	return slices.Concat(cli.Flags{
		{Name: "model", Value: &o.model, Help: "a model `file`"},
		{Name: "scores", Value: &o.scores, Help: "a `file` of scores instead of -model, from any ranker: one a line, in the order of the " +
			"-data file, or a TREC run, for -data or -qrels"},
		{Name: "per-query", Value: &o.perQuery, Help: "a new `file` for the values of every query, of the last split: CSV with the columns " +
			"query, metric and value; where its name ends in .trec, lines as of trec_eval -q"},
		{Name: "importance", Value: &o.importance, Help: "also print how much worse the -metric, or ndcg@10 without one, gets when a " +
			"feature is permuted"},
	}, o.Measuring.Flags(), cli.Flags{o.plot.Flag("a plot of the -importance"), cli.JSONFlag(&o.asJSON), cli.ThreadsFlag()})
}

func (o *options) Check(line *cli.Line) error {
	if o.scores != "" {
		err := line.Refuse("with -scores, which are measured on the labels of one file",
			"vali", "test", "fold", "scale", "cache", "base-column", "features", "ignore")
		if err != nil {
			return err
		}
	}
	return cmp.Or(
		cli.ErrorIf(o.scores == "" && (o.model == "" || o.Data == ""), "-model and -data are both needed, or -scores instead of -model"),
		cli.ErrorIf(o.scores != "" && o.model != "", "-model and -scores exclude each other: plrank compare takes both"),
		cli.ErrorIf(o.scores != "" && o.Data == "" && o.Qrels == "", "-scores needs labels: -data, or -qrels for a TREC run"),
		cli.ErrorIf(o.scores == "" && o.Qrels != "", "-qrels is for a TREC run, -scores: a model needs the features of -data"),
		cli.ErrorIf(o.scores != "" && o.importance, "-importance needs -model"),
		cli.ErrorIf(o.perQuery == cli.StandardOutput, "-per-query -: want the name of a new file: the metrics go to standard output"),
		cli.ErrorIf(o.plot != "" && !o.importance, "-plot needs -importance"),
		o.Measuring.Check(line),
	)
}

// Run runs the sub-command, and returns its exit status.
var Run = cli.Command[options](page)

// Run measures what the flags name.
func (o *options) Run(ctx context.Context, line *cli.Line, _ io.Reader, stdout, stderr io.Writer) error {
	if o.Judge != "" {
		return o.Judged(line, o.asJSON, stdout, stderr, o.scores)
	}
	var files cli.NewFiles
	defer files.Remove()
	if err := files.CheckPlot(o.plot); err != nil {
		return err
	}
	perQuery, err := files.Open(o.perQuery)
	if err != nil {
		return fmt.Errorf("evaluate: %w", err)
	}
	var model *ranker.Model
	if o.model != "" {
		if model, err = ranker.Open(o.model); err != nil {
			return err
		}
		if !line.Given("gain") {
			o.Config.Gain = model.File().Gain
		}
	}
	if err := o.WarnIdle(line, model == nil, o.importance || o.model != "" && !o.SingleFile(), stderr); err != nil {
		return err
	}
	if err := evaluate(ctx, o, model, line.Given("metric"), perQuery, stdout, stderr); err != nil {
		return err
	}
	return files.Publish(stdout)
}

// evaluate measures the model on every split of the data, or scores where the model is nil.
func evaluate(
	ctx context.Context, o *options, model *ranker.Model, metricGiven bool, perQuery *cli.NewFile, stdout, stderr io.Writer,
) error {
	measured, splits, err := o.Measure(ctx, o.model+o.scores, model, stderr)
	if err != nil {
		return err
	}
	if perQuery != nil {
		last := len(splits) - 1
		table, err := cli.NewPerQuery(splits[last].Data.QueryIDs, measured.Metrics, measured.Splits[last])
		if err == nil {
			err = table.Write(perQuery, o.perQuery)
		}
		if err != nil {
			return fmt.Errorf("evaluate: %s: %w", o.perQuery, err)
		}
	}
	var important []train.Importance
	if o.importance {
		if !metricGiven {
			o.Config.Metric = report.ImportanceMetric(o.Config.Metric)
		}
		if important, err = o.importances(ctx, model, splits[min(1, len(splits)-1)].Data, stderr); err != nil {
			return err
		}
	}
	if o.asJSON {
		return cli.PrintJSON(stdout, struct {
			*train.Report
			Importance []train.Importance `json:"importance,omitempty"`
		}{measured, important})
	}
	cli.PrintReport(stdout, measured)
	if o.importance {
		printImportances(stdout, o.Config.Metric, important)
	}
	return nil
}
