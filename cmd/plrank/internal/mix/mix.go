// Package mix implements the sub-command that weighs models, and writes their mixture.
package mix

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

var page = cli.Page{
	Command: "mix",
	Usage:   []string{"MODEL MODEL … -data FILE|DIR -out FILE", "MODEL MODEL … -weights W,W,… -out FILE"},
	Text: "Writes a model whose score is a weighted sum of the scores of models of the same features, such as a network and a forest. " +
		"The weights are chosen by the metric on the validation split of a folder, or on all of a file, which should not be the test " +
		"data. The gain, the highest grade and the columns come from the models unless they are given.",
	Examples: []string{"net/model.npz forest/model.npz -data shop.csv -out mixed.npz"},
	Words:    true,
}

// options are the command line.
type options struct {
	cli.Source
	out     string
	given   string       // weights
	config  train.Config // its measures and its seed
	models  []string
	weights []float64 // nil: to be chosen
}

func (o *options) Flags() cli.Flags {
	o.config = o.config.Plain()
	o.config.Metric = "ndcg@10"
	settings := cli.SettingFlags(&o.config, "metric", "gain", "highest-grade", "convention", "seed").OnPage()
	settings.Row("metric").Help = "`metric` of rankings by score that chooses the weights, such as ndcg@10, map or mrr; of an expected one, " +
		"the ranking's"
	return slices.Concat(o.Source.Flags("").Without("weight-column"), cli.Flags{
		{Name: "out", Value: &o.out, Help: "a new `file` for the model"},
		{Name: "weights", Value: &o.given, Help: "`weights` of the scores, one for each model, such as 0.7,0.3, instead of -data"}},
		settings, cli.Flags{cli.ThreadsFlag()})
}

func (o *options) Check(line *cli.Line) error {
	o.models = line.Args()
	for _, word := range command.Words(o.given) {
		w, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return fmt.Errorf("-weights %s: %q is not a number", o.given, word)
		}
		o.weights = append(o.weights, w)
	}
	measure, err := metrics.ParseMeasure(o.config.Metric)
	if err != nil {
		return fmt.Errorf("-metric: want a measure of rankings: %w", err)
	}
	return cmp.Or(
		cli.ErrorIf(measure.Ranking().OfPolicy(), "-metric %s is of policies: want a measure of rankings, such as ndcg@10", o.config.Metric),
		cli.ErrorIf(o.out == "" || o.Data == "" && o.weights == nil, "-out is needed, and -data or -weights"),
		cli.ErrorIf(o.Data != "" && o.weights != nil, "-data and -weights exclude each other"),
		cli.ErrorIf(len(o.models) < 2, "%d models: want two or more", len(o.models)),
		cli.ErrorIf(o.weights != nil && len(o.weights) != len(o.models), "-weights %s: %d weights of %d models: want one for each", o.given,
			len(o.weights), len(o.models)),
		cli.Check(o.config), o.Source.Check())
}

// Run runs the sub-command, and returns its exit status.
var Run = cli.Command[options](page)

// Run weighs the models, and writes the mixture.
func (o *options) Run(ctx context.Context, line *cli.Line, _ io.Reader, stdout, stderr io.Writer) error {
	var files cli.NewFiles
	defer files.Remove()
	out, err := files.Open(o.out)
	if err != nil {
		return fmt.Errorf("mix: %w", err)
	}
	models, err := o.open(line)
	if err != nil {
		return err
	}
	mixed, err := o.mix(ctx, line, models, stderr)
	if err != nil {
		return err
	}
	f := *mixed
	f.Gain, f.Grade = o.config.Gain, o.config.HighestGrade
	if err := f.Write(out); err != nil {
		return fmt.Errorf("mix: %w", err)
	}
	return files.Publish(stdout)
}

// open opens the models, and takes from them what they say of labels.
func (o *options) open(line *cli.Line) (models []*ranker.Model, err error) {
	for _, path := range o.models {
		m, err := ranker.Open(path)
		if err != nil {
			return nil, err
		}
		models = append(models, m)
	}
	o.Know(models...)
	if models, err = ranker.Unite(models...); err != nil {
		return nil, err
	}
	for i, m := range models {
		if label, other := models[0].Columns()["label"], m.Columns()["label"]; o.LabelColumn == "" && other != label {
			return nil, command.Usage(fmt.Errorf("%s was trained on the labels %q, and %s on %q: -label-column must name the one to measure on",
				o.models[0], label, o.models[i], other))
		}
	}
	return models, cli.TakeGain(&o.config, line.Given("gain"), o.models, models)
}

// mix returns the mixture by the weights that are given, or else by the data.
func (o *options) mix(ctx context.Context, line *cli.Line, models []*ranker.Model, stderr io.Writer) (*ranker.File, error) {
	if o.weights != nil {
		return ranker.Mix(o.weights, models...)
	}
	wanted := cli.Without(datasets.OptionsFor(models[0]), "weight")
	splits, err := o.Measured(ctx, datasets.Options{Read: wanted, Seed: o.config.Seed, Unlabelled: "drop"}, stderr)
	if err != nil {
		return nil, err
	}
	d := splits[min(1, len(splits)-1)].Data // the validation split, or all of a file
	for i, m := range models {
		cli.WarnOfSeen(stderr, o.models[i], m, d)
	}
	c := o.config
	if !line.Given("highest-grade") {
		c.HighestGrade = max(c.HighestGrade, d.HighestLabel())
	}
	mixed, shares, err := recipe.Mix(c, d, models...)
	if err != nil {
		return nil, err
	}
	for i, share := range shares {
		fmt.Fprintf(stderr, "%.2f %s\n", share, o.models[i])
	}
	return mixed.File(), nil
}
