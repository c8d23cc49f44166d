// Package describe implements plrank describe, which describes data and models.
package describe

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

var page = cli.Page{
	Command: "describe",
	Usage:   []string{"-data FILE|DIR [-fold N] [-json]", "-model FILE [-tree N [-svg FILE]] [-json]"},
	Text: "Counts queries, documents, features, labels, weights and groups, and lists the features: how many values of each are missing " +
		"and how many are distinct, their range, and whether they are useful. With -model it describes a model and " +
		"the features that it uses, or one tree of a forest.",
	Examples: []string{
		"-data MQ2008 -fold 3",
		"-data shop.csv -group-column brand -json",
		"-data shop.csv -categorical brand -ignore price",
		"-model runs/fold1/model.npz",
		"-model shop/model.npz -tree 1 -svg tree.svg",
	},
}

// options are the command line.
type options struct {
	cli.Source
	config train.Config // its seed and categorical features
	model  string
	tree   int
	svg    string
	asJSON bool
}

func (o *options) Flags() cli.Flags {
	list := slices.Concat(o.Source.Flags(""), o.CacheFlag(), cli.SettingFlags(&o.config, "categorical"), cli.Flags{
		{Name: "model", Value: &o.model, Help: "a model `file`, of plrank or of another library, in place of data"},
		{Name: "tree", Value: cli.Int(&o.tree, 0, math.MaxInt32), Help: "`number` of a tree of a forest, from 1, to print; 0: none"},
		{Name: "svg", Value: &o.svg, Help: "a new `file`.svg with a picture of the -tree"},
		cli.JSONFlag(&o.asJSON),
		{Name: "seed", Value: &o.config.Seed, Help: "`seed` by which validation queries are held out, and synthetic data made"},
		cli.ThreadsFlag(),
	})
	list.AlsoIdle(list.Row("features").Idle, "categorical") // as it is of what is read
	list.AlsoIdle(func(*train.Use) string {
		if o.SingleFile() {
			return "on a single file, which is read once and not divided: it is for a folder"
		}
		return ""
	}, "seed", "cache")
	return list
}

func (o *options) Check(line *cli.Line) error {
	if o.model != "" {
		for _, name := range command.Given(line.FlagSet) {
			if !slices.Contains([]string{"model", "json", "tree", "svg"}, name) {
				return fmt.Errorf("-%s is for data, and -model is given", name)
			}
		}
		return cmp.Or(cli.ErrorIf(o.tree == 0 && o.svg != "", "-svg needs -tree"),
			cli.ErrorIf(o.tree != 0 && o.asJSON, "-tree prints text, and -json is given"))
	}
	return cmp.Or(
		cli.ErrorIf(o.tree != 0 || o.svg != "", "-tree and -svg need -model"),
		cli.ErrorIf(o.Data == "", "-data or -model is needed"),
		o.Source.Check())
}

// Run runs the sub-command, and returns its exit status.
var Run = cli.Command[options](page)

// A description is what -json prints: all but the fields that it hides.
type description struct {
	*datasets.Description
	Name          *struct{} `json:"name,omitempty"`
	MissingValues *struct{} `json:"missingValues,omitempty"`
	Warnings      *struct{} `json:"warnings,omitempty"`
}

// Run prints what is in the model, or in the data, unlabelled documents included.
func (o *options) Run(ctx context.Context, line *cli.Line, _ io.Reader, stdout, stderr io.Writer) error {
	if o.model != "" {
		m, err := ranker.Open(o.model)
		if err == nil && o.tree == 0 {
			err = describeModel(m, o.asJSON, stdout)
		} else if err == nil {
			err = describeTree(m, o.tree, o.svg, stdout)
		}
		return err
	}
	line.WarnIdle(stderr, &train.Use{})
	splits, err := open(ctx, o, stderr)
	if err != nil {
		return err
	}
	command.Warn(stderr, cli.Suspicions(splits[0])...)
	d := datasets.Describe(o.Data, splits...)
	if o.asJSON {
		return cli.PrintJSON(stdout, description{Description: d})
	}
	fmt.Fprint(stdout, d)
	fmt.Fprintln(stdout)
	printFeatures(stdout, d.FeatureList)
	if len(splits) > 1 {
		fmt.Fprintln(stdout)
		for _, split := range splits {
			fmt.Fprintln(stdout, split)
		}
	}
	return nil
}

// printFeatures prints a table of the features, the first ones of many, and of columns that were left out.
func printFeatures(w io.Writer, list []datasets.FeatureDescription) {
	const most, longest = 40, 40 // of features, and characters
	cut := func(text string) string {
		if r := []rune(text); len(r) > longest {
			return string(r[:longest]) + "…"
		}
		return text
	}
	var shown []datasets.FeatureDescription
	var names []string
	count := map[bool]int{} // of features, and of columns that are none
	for _, f := range list {
		leftOut := f.Use == datasets.LeftOut
		if count[leftOut]++; count[leftOut] <= most {
			shown, names = append(shown, f), append(names, cut(text.List([]string{f.Name})))
		}
	}
	cli.PrintTable(w, names, []string{"id", "type", "missing", "distinct", "values", "use"}, func(row, column int) string {
		f := &shown[row]
		distinct := strconv.Itoa(f.Distinct)
		if f.Distinct > datasets.MostDistinct {
			distinct = fmt.Sprintf("over %d", datasets.MostDistinct)
		}
		if f.Use == datasets.LeftOut && column != 1 && column != 5 {
			return "–"
		}
		return []string{strconv.Itoa(f.ID), f.Type, strconv.Itoa(f.Missing), distinct, cut(f.Values()), f.Use}[column]
	})
	if more := count[false] - most; more > 0 {
		fmt.Fprintf(w, "… and %d more features: -json lists them all\n", more)
	}
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
