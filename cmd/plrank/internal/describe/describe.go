// Package describe is the sub-command that says what is in data.
package describe

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/train"
)

var page = cli.Page{
	Command: "describe",
	Usage:   []string{"-data FILE|DIR [-fold N] [-json]", "-model FILE [-json]"},
	Text: "Counts queries, documents, features, labels, weights and groups, and lists the features: how many values of each are missing " +
		"and how many are distinct, their range, and whether they are useful. Or says what a model is, and which features it uses.",
	Flags: []string{"data", "model", "json", "seed", "threads"},
	Examples: []string{
		"-data MQ2008 -fold 3",
		"-data shop.csv -group-column brand -json",
		"-data shop.csv -categorical brand -ignore price",
		"-model runs/fold1/model.npz",
	},
}

// options are the command line.
type options struct {
	cli.Source
	config  train.Config // its seed and categorical features
	model   string
	asJSON  bool
	threads cli.Threads
}

func (o *options) Flags() *flag.FlagSet {
	f := flag.NewFlagSet("describe", flag.ContinueOnError)
	o.Define(f, "")
	o.DefineCache(f)
	cli.DefineConfig(f, &o.config, "categorical")
	f.StringVar(&o.model, "model", "", "a model `file`, of plrank or of another library, in place of data")
	cli.DefineJSON(f, &o.asJSON)
	f.Uint64Var(&o.config.Seed, "seed", 0, "`seed` by which validation queries are held out, and synthetic data made")
	o.threads.Define(f)
	return f
}

func (o *options) Check(given *flag.FlagSet) error {
	o.threads.Use()
	if o.model != "" {
		var err error
		given.Visit(func(f *flag.Flag) {
			if f.Name != "model" && f.Name != "json" {
				err = cmp.Or(err, fmt.Errorf("-%s is for data, and -model is given", f.Name))
			}
		})
		return err
	}
	return cmp.Or(cli.ErrorIf(o.Data == "", "-data or -model is needed"), o.Source.Check())
}

// Run runs the sub-command, and returns its exit status.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return page.Do(new(options), args, stdin, stdout, stderr)
}

// A description is what -json prints: all but the fields that it hides.
type description struct {
	*datasets.Description
	Name          *struct{} `json:"name,omitempty"`
	MissingValues *struct{} `json:"missingValues,omitempty"`
	Warnings      *struct{} `json:"warnings,omitempty"`
}

// Run prints what is in the model, or in the data, unlabelled documents included.
func (o *options) Run(ctx context.Context, given *flag.FlagSet, _ io.Reader, stdout, stderr io.Writer) error {
	if o.model != "" {
		return describeModel(o.model, o.asJSON, stdout)
	}
	cli.WarnIdle(stderr, given, append(o.Uses(),
		cli.Use{Works: !o.Synthetic(), Flags: []string{"categorical"}, Why: "without -data FILE or FOLDER: it is for what is read"},
		cli.Use{Works: !o.SingleFile(), Flags: []string{"seed", "cache"}, Why: "on a single file, which is read once and not divided: it is " +
			"for a folder"})...)
	splits, err := open(ctx, o, stderr)
	if err != nil {
		return err
	}
	d := datasets.Describe(o.Data, splits...)
	if o.asJSON {
		return cli.PrintJSON(stdout, description{Description: d})
	}
	fmt.Fprint(stdout, d)
	fmt.Fprintln(stdout)
	fmt.Fprint(stdout, d.FeatureTable(cli.TableWidth(stdout)))
	if len(splits) > 1 {
		fmt.Fprintln(stdout)
		for _, split := range splits {
			fmt.Fprintln(stdout, split)
		}
	}
	return nil
}

// open returns the splits of the data; a single file is not split.
func open(ctx context.Context, o *options, stderr io.Writer) ([]*datasets.Dataset, error) {
	wanted := datasets.ReadOptions{Categorical: o.config.Categorical}
	if o.SingleFile() {
		d, err := o.ReadFile(ctx, wanted, stderr)
		if err != nil {
			return nil, err
		}
		return []*datasets.Dataset{d}, nil
	}
	s, err := o.Open(ctx, datasets.Options{Read: wanted, Seed: o.config.Seed, Unlabelled: "keep"}, stderr)
	if err != nil {
		return nil, err
	}
	cli.LimitGarbage()
	splits := []*datasets.Dataset{s.Train, s.Vali}
	if s.Test != nil {
		splits = append(splits, s.Test)
	}
	return splits, nil
}
