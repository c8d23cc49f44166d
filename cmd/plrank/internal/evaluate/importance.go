package evaluate

import (
	"context"
	"fmt"
	"io"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/cmd/internal/report"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
)

// importances returns the permutation importance of the features, and draws it if there is a -plot.
func (o *options) importances(ctx context.Context, model *ranker.Model, d *datasets.Dataset, stderr io.Writer) ([]train.Importance, error) {
	fmt.Fprintf(stderr, "permuting features of %s\n", d)
	list, err := train.Importances(ctx, o.Config, train.Custom{}, model, d, report.Permutations)
	if err == nil {
		p := report.ImportancePlot(o.Config.Metric, list)
		p.Title = "Permutation importance"
		o.plot.Draw(stderr, p.Save)
	}
	return list, err
}

func printImportances(w io.Writer, metric string, list []train.Importance) {
	fmt.Fprintln(w)
	cli.PrintNote(w, fmt.Sprintf("how much worse %s is without a feature, by %d permutations", metric, report.Permutations))
	fmt.Fprint(w, report.ImportanceTable(list, report.ShownFeatures))
	if n := len(list) - report.ShownFeatures; n > 0 {
		fmt.Fprintf(w, "%d more features matter less (-json has all)\n", n)
	}
}
