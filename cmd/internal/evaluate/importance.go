package evaluate

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

// permutations is how often each feature is permuted.
const permutations = 5

// shownFeatures is how many features a table or plot has room for.
const shownFeatures = 20

// importance is the permutation importance of the features on the validation split, where
// there is one; nil if it is not asked for.
func importance(ctx context.Context, o *options, model *ranker.Model, splits []train.Split, stderr io.Writer) ([]train.Importance, error) {
	if !o.importance {
		return nil, nil
	}
	of := splits[min(1, len(splits)-1)]
	fmt.Fprintf(stderr, "permuting features of %s\n", of.Data)
	important, err := train.Importances(ctx, o.Config, train.Parts{}, model, of.Data, permutations)
	if err != nil {
		return nil, err
	}
	if o.plot != "" {
		if err := drawImportance(o.plot, o.Config.Metric, important); err != nil {
			command.Warn(stderr, err.Error()) // the numbers are there without a picture
		}
	}
	return important, nil
}

func printImportance(w io.Writer, metric string, list []train.Importance) {
	fmt.Fprintf(w, "\nby how much %s gets worse without a feature: mean and standard deviation of %d permutations\n", metric, permutations)
	var table viz.Table
	for _, i := range list[:min(shownFeatures, len(list))] {
		table.Rows = append(table.Rows, viz.Row{"feature " + i.Name, cli.FormatValue(i.Mean), "±" + cli.FormatValue(i.SD)})
	}
	fmt.Fprint(w, table)
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
