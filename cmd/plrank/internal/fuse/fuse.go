// Package fuse is the sub-command that learns how to combine runs of several searches.
package fuse

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/fusion"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train"
)

var page = cli.Page{
	Command: "fuse",
	Usage:   []string{"RUN RUN … -qrels FILE [-metric METRIC] [-kinds FILE] [-out MODEL]"},
	Text: "Learns how to combine two or more runs of the same queries, such as BM25 and vectors, from some judged queries. Runs are TREC " +
		"runs, or CSV of query, document and score. It measures each run alone, reciprocal rank fusion (RRF), CombSUM, CombMNZ, equal and " +
		"learned weights by cross-validation over the queries, and prints what to paste into OpenSearch, Elasticsearch, Vespa, " +
		"Weaviate and Qdrant.",
	Examples: []string{
		"bm25.run dense.run -qrels qrels.txt",
		"bm25.csv dense.csv -qrels qrels.txt -metric mrr@10 -json",
	},
	Topics: []string{"comparing"},
	Words:  true,
}

// options are the command line.
type options struct {
	runs          []string
	qrels, metric string
	kinds         string // file
	folds         int
	config        train.Config // its gain
	asJSON        bool
	out           string // a new file

	measure metrics.Measure
	gain    metrics.Gain
}

func (o *options) Flags() cli.Flags {
	o.metric, o.folds = "ndcg@10", 5
	o.config = o.config.Plain()
	return slices.Concat(cli.Flags{
		{Name: "qrels", Value: &o.qrels, Help: "a `file` of TREC judgements"},
		{Name: "metric", Value: &o.metric, Help: "`metric` to compare by; its cutoff is also the one of the expected " +
			"NDCG that is learned"},
		{Name: "kinds", Value: &o.kinds, Help: "a `file` of kinds of queries, for weights by kind: CSV of query and kind, such as its " +
			"number of words"},
		{Name: "folds", Value: cli.Int(&o.folds, 3, 20), Help: "`number` of folds of the cross-validation"},
		{Name: "out", Value: &o.out, Help: "a new `file` for a model of the learned weights, for plrank serve"},
	}, cli.SettingFlags(&o.config, "gain").OnPage(), cli.Flags{cli.JSONFlag(&o.asJSON), cli.ThreadsFlag()})
}

func (o *options) Check(line *cli.Line) (err error) {
	o.runs = line.Args()
	if err = cmp.Or(
		cli.ErrorIf(len(o.runs) < 2, "want two or more runs to combine"),
		cli.ErrorIf(o.qrels == "", "-qrels must name a file of judgements"),
		cli.ErrorIf(o.out == cli.StandardOutput, "-out -: want the name of a new file"),
	); err != nil {
		return err
	}
	if o.gain, err = metrics.ParseGain(o.config.Gain); err != nil {
		return err
	}
	if o.measure, err = metrics.ParseMeasure(o.metric); err != nil {
		return fmt.Errorf("-metric: want one metric: %w", err)
	}
	return cli.ErrorIf(o.measure.OfPolicy() || o.measure.NeedsGroups() || o.measure.NeedsIntents() || o.measure.NeedsVectors(),
		"-metric %s: want a metric of a ranking by labels, such as ndcg@10", o.metric)
}

// cutoff returns the cutoff of the metric; 0: it has none.
func (o *options) cutoff() int {
	_, text, _ := strings.Cut(o.measure.String(), "@")
	cutoff, _ := strconv.Atoi(text) // "" is 0
	return cutoff
}

// Run runs the sub-command, and returns its exit status.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return page.DoUntil(command.Interruptible(), new(options), args, stdin, stdout, stderr)
}

// Run reads the runs, learns, measures, and prints.
func (o *options) Run(ctx context.Context, _ *cli.Line, _ io.Reader, stdout, stderr io.Writer) error {
	var files cli.NewFiles
	defer files.Remove()
	out, err := files.Open(o.out)
	if err != nil {
		return err
	}
	d, err := o.read(ctx, stderr)
	if err != nil {
		return err
	}
	discounts := metrics.Discounts(d.cutoff)
	bar := command.NewBar(stderr)
	model, err := fusion.Learn(ctx, d.queries, discounts, min(o.folds, len(d.queries)), func(part float64) { bar.Set(part, "learning") })
	bar.Finish()
	if err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	found, err := o.compare(d, model)
	if err != nil {
		return err
	}
	if out != nil {
		if err := o.writeModel(out, model); err != nil {
			return err
		}
	}
	if err := files.Publish(stdout); err != nil {
		return err
	}
	if o.asJSON {
		return cli.PrintJSON(stdout, found)
	}
	o.print(stdout, found, model)
	return nil
}
