package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

// evaluate measures a saved model on labelled data.
func evaluate(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	model, err := ranker.Open(o.model)
	if err != nil {
		return err
	}
	if !o.gainGiven {
		o.Gain = model.File().Gain
	}
	splits, err := measuredSplits(ctx, o, model, stderr)
	if err != nil {
		return err
	}
	report, err := train.Evaluate(o.Config, train.Parts{}, model, splits...)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "model %s, version %s\n", command.Printable(o.model), report.Model)
	for i, s := range report.Splits {
		if s.TrainedOn > 0 {
			warn([]string{fmt.Sprintf("%s: %d of %d queries were trained on: what is measured on them is no measure for new queries", splits[i].Data.Name, s.TrainedOn, s.Queries)}, stderr)
		}
	}
	if report.HighestGrade != 0 && o.HighestGrade == 0 && model.File().Grade == 0 {
		warn([]string{fmt.Sprintf("%s does not say the highest grade, as files of older versions do not: err and graded-rbp go by the highest of these data, %v; -highest-grade sets it", o.model, report.HighestGrade)}, stderr)
	}
	var important []train.Importance
	if o.importance != "" {
		of := splits[min(1, len(splits)-1)] // the validation split, where there is one
		fmt.Fprintf(stderr, "permuting features of %s\n", of.Data)
		if important, err = train.Importances(ctx, o.Config, train.Parts{}, model, of.Data, permutations); err != nil {
			return err
		}
		if err := drawImportance(o.importance, o.Metric, important); err != nil {
			warn([]string{err.Error()}, stderr) // the numbers are there without a picture
		}
	}
	if o.asJSON {
		return json.NewEncoder(stdout).Encode(struct {
			*train.Report
			Importance []train.Importance `json:"importance,omitempty"`
		}{report, important})
	}
	printReport(stdout, report)
	if important != nil {
		printImportance(stdout, o.Metric, important)
	}
	return nil
}

// measuredSplits are the splits of the data; a single file is not split.
func measuredSplits(ctx context.Context, o *options, model *ranker.Model, stderr io.Writer) ([]train.Split, error) {
	wanted := datasets.ReadOptions{FeatureIDs: model.FeatureIDs(), FeatureNames: model.FeatureNames()}
	single, of := o.singleFile(), *o
	if single {
		of.Vali = o.Data // so that nothing is held out
	}
	s, err := open(ctx, &of, wanted, "drop", stderr)
	if err != nil {
		return nil, err
	}
	splits := []train.Split{{Name: "train", Data: s.Train}, {Name: "vali", Data: s.Vali}}
	if single {
		splits = []train.Split{{Name: "data", Data: s.Train}}
	}
	if s.Test != nil {
		splits = append(splits, train.Split{Name: "test", Data: s.Test})
	}
	for _, split := range splits {
		features := newUsed(model)
		features.add(split.Data)
		warn(features.lacking(split.Data.Name), stderr)
	}
	return splits, nil
}

// permutations is how often each feature is permuted.
const permutations = 5

// shownFeatures is how many features a table or plot has room for.
const shownFeatures = 20

func printImportance(w io.Writer, metric string, list []train.Importance) {
	fmt.Fprintf(w, "\nby how much %s gets worse without a feature: mean and standard deviation of %d permutations\n", metric, permutations)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, i := range list[:min(shownFeatures, len(list))] {
		fmt.Fprintf(tw, "feature %s\t%s\t±%s\t\n", i.Name, number(i.Mean), number(i.SD))
	}
	tw.Flush()
	if n := len(list) - shownFeatures; n > 0 {
		fmt.Fprintf(w, "%d more features matter less (-json has all)\n", n)
	}
}

// drawImportance draws the most important features from the top down.
func drawImportance(path, metric string, list []train.Importance) error {
	list = slices.Clone(list[:min(shownFeatures, len(list))])
	slices.Reverse(list)
	s := viz.Series{Style: viz.Points}
	p := viz.Plot{Title: "Permutation importance", X: "loss of " + metric}
	for at, i := range list {
		mean, sd := float64(i.Mean), float64(i.SD)
		s.X, s.Left, s.Right = append(s.X, mean), append(s.Left, mean-sd), append(s.Right, mean+sd)
		s.Y = append(s.Y, float64(at))
		p.YNames = append(p.YNames, i.Name)
	}
	p.Series = []viz.Series{s}
	return p.Save(path)
}
