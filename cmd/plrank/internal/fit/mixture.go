package fit

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/viz"
	"github.com/plrank/plrank/worth"
)

// A mixture is what -json prints with -mixtures.
type mixture struct {
	Components    []component        `json:"components"` // the largest weight first
	LogLikelihood float64            `json:"logLikelihood"`
	Parameters    int                `json:"parameters"`
	BIC           float64            `json:"bic"`
	BICOfOne      float64            `json:"bicOfOneComponent"`
	Train         *mixtureEvaluation `json:"train"`
	Test          *mixtureEvaluation `json:"test,omitempty"`

	model, one *worth.Mixture
}

type component struct {
	Weight float64     `json:"weight"`
	Items  []itemWorth `json:"items"` // in the order of the file
	Ties   []tieDelta  `json:"ties,omitempty"`
}

// A mixtureEvaluation says how well a mixture, and one component, predict rankings: by the mean log-likelihood.
type mixtureEvaluation struct {
	Rankings      int     `json:"rankings"`
	Weight        float64 `json:"weight"`
	LogLikelihood float64 `json:"logLikelihood"`
	OneComponent  float64 `json:"logLikelihoodOfOneComponent"`
}

// fitMixture fits a mixture, and one component to compare it with.
func (o *options) fitMixture(ctx context.Context, rankings *worth.Observations, stderr io.Writer) (fitted, error) {
	bar, done := command.NewBar(stderr), 0.0
	const starts = 10
	settings := worth.MixtureOptions{Components: 1, Prior: o.prior, Seed: o.seed, Starts: starts, Progress: func(p worth.MixtureProgress) {
		done = max(done, float64(p.Start-1)/starts)
		bar.Set(done, fmt.Sprintf("start %d, step %d, log-likelihood %.6g", p.Start, p.Step, p.LogLikelihood))
	}}
	one, err := worth.FitMixture(ctx, rankings, settings)
	m := one
	if err == nil {
		settings.Components = o.mixtures
		m, err = worth.FitMixture(ctx, rankings, settings)
	}
	bar.Finish()
	if m == nil || err != nil && ctx.Err() == nil {
		return nil, err
	}
	r := &mixture{model: m, one: one, LogLikelihood: m.LogLikelihood, Parameters: m.Parameters(), BIC: m.BIC(), BICOfOne: one.BIC()}
	for k, c := range m.Components {
		r.Components = append(r.Components, component{m.Weights[k], itemWorths(c), tieDeltas(c)})
	}
	return r, err
}

func (r *mixture) measure(name string, rankings *worth.Observations) error {
	sum, weight, err := r.model.Evaluate(rankings)
	if err != nil {
		return err
	}
	sumOfOne, _, err := r.one.Evaluate(rankings)
	e := &mixtureEvaluation{rankings.Len(), weight, sum / weight, sumOfOne / weight}
	if name == fittedTo {
		r.Train = e
	} else {
		r.Test = e
	}
	return err
}

// writeCSV writes a row for each item of each component.
func (r *mixture) writeCSV(w io.Writer) error {
	rows := [][]string{{"component", "weight", "item", "worth", "log_worth"}}
	for k, c := range r.Components {
		for _, i := range c.Items {
			rows = append(rows, []string{strconv.Itoa(k + 1), number(c.Weight), i.Item, number(i.Worth), number(i.LogWorth)})
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// print prints the result as a table of worths, a column for each component.
func (r *mixture) print(w io.Writer) {
	var components []string
	for k := range r.Components {
		components = append(components, fmt.Sprint("component ", k+1))
	}
	first := r.Components[0].Items
	byWorth := num.DescendingOrder(nil, r.model.Components[0].Worths())[:min(shownItems, len(first))]
	rows := []string{"weight"}
	for _, i := range byWorth {
		rows = append(rows, command.Printable(first[i].Item))
	}
	cli.PrintTable(w, rows, components, func(row, component int) string {
		c := r.Components[component]
		if row == 0 {
			return fmt.Sprintf("%.4f", c.Weight)
		}
		return fmt.Sprintf("%#.4g", c.Items[byWorth[row-1]].Worth)
	})
	if n := len(first) - shownItems; n > 0 {
		fmt.Fprintf(w, "%d more items are worth less to component 1 (-out and -json have all)\n", n)
	}
	fmt.Fprintln(w)
	for k, c := range r.Components {
		for _, t := range c.Ties {
			fmt.Fprintf(w, "component %d, ties of %d items: log δ %.4f\n", k+1, t.Size, t.LogDelta)
		}
	}
	fmt.Fprintf(w, "parameters %d, log-likelihood %.4f, BIC %.2f; of one component %.2f\n", r.Parameters, r.LogLikelihood, r.BIC, r.BICOfOne)
	table := viz.Table{Title: "\nper ranking: the mean log-likelihood, and the one of a single component",
		Columns: []string{"", "rankings", "weight", "log-likelihood", "one component"}}
	for i, e := range []*mixtureEvaluation{r.Train, r.Test} {
		if e != nil {
			table.Rows = append(table.Rows, viz.Row{[]string{fittedTo, "test"}[i], e.Rankings, fmt.Sprint(e.Weight), e.LogLikelihood,
				e.OneComponent})
		}
	}
	fmt.Fprint(w, table)
}
