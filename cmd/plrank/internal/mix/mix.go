// Package mix implements the sub-command that weighs models, and writes their mixture.
package mix

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

var page = cli.Page{
	Command: "mix",
	Usage:   []string{"MODEL MODEL … -data FILE|DIR -out FILE"},
	Text: "Writes a model whose score is a weighted sum of the scores of models of the same features, such as a network and a forest. " +
		"The weights are chosen by the metric on the validation split of a folder, or on all of a file, which should not be the test data.",
	Examples: []string{"net/model.npz forest/model.npz -data shop.csv -out mixed.npz"},
	Words:    true,
}

// options are the command line.
type options struct {
	cli.Source
	out    string
	config train.Config // its measures and its seed
	models []string
}

func (o *options) Flags() cli.Flags {
	o.config = o.config.Plain()
	o.config.Metric = "ndcg@10"
	return slices.Concat(o.Source.Flags(""), cli.Flags{{Name: "out", Value: &o.out, Help: "a new `file` for the model"}},
		cli.SettingFlags(&o.config, "metric", "convention", "seed").OnPage(), cli.Flags{cli.ThreadsFlag()})
}

func (o *options) Check(line *cli.Line) error {
	o.models = line.Args()
	return cmp.Or(
		cli.ErrorIf(o.Data == "" || o.out == "", "-data and -out are both needed"),
		cli.ErrorIf(len(o.models) < 2, "%d models: want two or more", len(o.models)),
		o.Source.Check())
}

// Run runs the sub-command, and returns its exit status.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return page.Do(new(options), args, stdin, stdout, stderr)
}

// Run weighs the models, and writes the mixture.
func (o *options) Run(ctx context.Context, _ *cli.Line, _ io.Reader, stdout, stderr io.Writer) error {
	var files cli.NewFiles
	defer files.Remove()
	out, err := files.Open(o.out)
	if err != nil {
		return fmt.Errorf("mix: %w", err)
	}
	var models []*ranker.Model
	for _, path := range o.models {
		m, err := ranker.Open(path)
		if err != nil {
			return err
		}
		models = append(models, m)
	}
	o.Know(models...)
	if models, err = ranker.Unite(models...); err != nil {
		return err
	}
	d, err := o.open(ctx, models[0], stderr)
	if err != nil {
		return err
	}
	for i, m := range models {
		cli.WarnOfSeen(stderr, o.models[i], m, d)
	}
	mixed, shares, err := recipe.Mix(o.config, d, models...)
	if err != nil {
		return err
	}
	if err := mixed.File().Write(out); err != nil {
		return fmt.Errorf("mix: %w", err)
	}
	for i, share := range shares {
		fmt.Fprintf(stderr, "%.2f %s\n", share, o.models[i])
	}
	return files.Publish(stdout)
}

// open returns the data that models are weighed on.
func (o *options) open(ctx context.Context, m *ranker.Model, stderr io.Writer) (*datasets.Dataset, error) {
	wanted := datasets.OptionsFor(m)
	if !o.SingleFile() {
		s, err := o.Source.Open(ctx, datasets.Options{Read: wanted, Seed: o.config.Seed, Unlabelled: "drop"}, stderr)
		if err != nil {
			return nil, err
		}
		return s.Vali, nil
	}
	return o.ReadFile(ctx, wanted, stderr)
}
