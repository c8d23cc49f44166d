package evaluate

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
)

const (
	permutations  = 5  // of each feature
	shownFeatures = 20 // in a table or plot
)

// importances returns the permutation importance of the features, and draws it if there is a -plot.
func (o *options) importances(ctx context.Context, model *ranker.Model, d *datasets.Dataset, stderr io.Writer) ([]train.Importance, error) {
	fmt.Fprintf(stderr, "permuting features of %s\n", d)
	list, err := train.Importances(ctx, o.Config, train.Parts{}, model, d, permutations)
	if err == nil {
		o.plot.Draw(stderr, func(path string) error { return drawImportances(path, o.Config.Metric, list) })
	}
	return list, err
}

func printImportances(w io.Writer, metric string, list []train.Importance) {
	fmt.Fprintln(w)
	cli.PrintNote(w, fmt.Sprintf("by how much %s gets worse without a feature: mean ± standard deviation of %d permutations", metric, permutations))
	var table viz.Table
	for _, i := range list[:min(shownFeatures, len(list))] {
		table.Rows = append(table.Rows, viz.Row{"feature " + i.Name, cli.FormatValue(i.Mean), "±" + cli.FormatValue(i.SD)})
	}
	fmt.Fprint(w, table)
	if n := len(list) - shownFeatures; n > 0 {
		fmt.Fprintf(w, "%d more features matter less (-json has all)\n", n)
	}
}

// drawImportances draws the most important features from the top down.
func drawImportances(path, metric string, list []train.Importance) error {
	list = slices.Clone(list[:min(shownFeatures, len(list))])
	slices.Reverse(list)
	s := viz.Series{Style: viz.Points}
	p := viz.Plot{Title: "Permutation importance", X: "loss of " + metric}
	for y, i := range list {
		mean, sd := float64(i.Mean), float64(i.SD)
		s.X, s.Left, s.Right = append(s.X, mean), append(s.Left, mean-sd), append(s.Right, mean+sd)
		s.Y = append(s.Y, float64(y))
		p.YNames = append(p.YNames, i.Name)
	}
	p.Series = []viz.Series{{Style: viz.Guide, X: []float64{0, 0}, Y: []float64{0, float64(len(list)) - 0.5}}, s} // the axis has 0
	return p.Save(path)
}
