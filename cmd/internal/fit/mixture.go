package fit

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
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
	Components    []component      `json:"components"` // the largest weight first
	LogLikelihood float64          `json:"logLikelihood"`
	Parameters    int              `json:"parameters"`
	BIC           float64          `json:"bic"`
	BICOfOne      float64          `json:"bicOfOneComponent"`
	Train         *mixtureMeasured `json:"train"`
	Test          *mixtureMeasured `json:"test,omitempty"`

	model, one *worth.Mixture
}

type component struct {
	Weight float64         `json:"weight"`
	Items  []componentItem `json:"items"` // in the order of the file
	Ties   []componentTie  `json:"ties,omitempty"`
}

type componentTie struct {
	Size     int     `json:"size"`
	LogDelta float64 `json:"logDelta"`
}

type componentItem struct {
	Item     string  `json:"item"`
	Worth    float64 `json:"worth"`
	LogWorth float64 `json:"logWorth"`
}

// mixtureMeasured says how well a mixture, and one component, predict rankings: by the mean log-likelihood.
type mixtureMeasured struct {
	Rankings      int     `json:"rankings"`
	Weight        float64 `json:"weight"`
	LogLikelihood float64 `json:"logLikelihood"`
	OneComponent  float64 `json:"logLikelihoodOfOneComponent"`
}

// fitMixture fits a mixture, beside one component, and writes what it says; also if it is interrupted.
func fitMixture(ctx context.Context, o *options, rankings, heldOut *worth.Observations, files *cli.NewFiles, out io.Writer, stdout, stderr io.Writer) error {
	bar, done := command.NewBar(stderr), 0.0
	const starts = 10
	settings := worth.MixtureOptions{Components: 1, Prior: o.prior, Seed: o.seed, Starts: starts, Progress: func(p worth.MixtureProgress) {
		done = max(done, float64(p.Start-1)/starts)
		bar.Set(done, fmt.Sprintf("start %d, step %d, log-likelihood %.6g", p.Start, p.Step, p.LogLikelihood))
	}}
	one, err := worth.FitMixture(ctx, rankings, settings)
	if err == nil {
		settings.Components = o.mixtures
	}
	m, fitErr := one, err
	if err == nil {
		m, fitErr = worth.FitMixture(ctx, rankings, settings)
	}
	bar.Finish()
	if m == nil || fitErr != nil && ctx.Err() == nil {
		return o.withRemedy(fitErr)
	}
	r := &mixture{model: m, one: one, LogLikelihood: m.LogLikelihood, Parameters: m.Parameters(), BIC: m.BIC(), BICOfOne: one.BIC()}
	for k, c := range m.Components {
		of := component{Weight: m.Weights[k]}
		for i, size := range c.TieOrders {
			of.Ties = append(of.Ties, componentTie{size, c.LogTies[i]})
		}
		for i, w := range c.Worths() {
			of.Items = append(of.Items, componentItem{c.Items[i], w, c.LogWorths[i]})
		}
		r.Components = append(r.Components, of)
	}
	if r.Train, err = r.measure(rankings); err != nil {
		return fmt.Errorf("%s: %w", o.rankings, err)
	}
	if heldOut != nil {
		if r.Test, err = r.measure(heldOut); err != nil {
			return fmt.Errorf("%s: %w", o.test, err)
		}
	}
	if o.out != "" {
		if err := r.writeCSV(out); err != nil {
			return err
		}
	}
	if err := files.Publish(stdout); err != nil {
		return err
	}
	return cmp.Or(r.print(stdout, o.asJSON), fitErr)
}

// withRemedy is an error of a fit, with the flag that helps.
func (o *options) withRemedy(err error) error {
	if errors.As(err, new(*worth.DisconnectedError)) {
		err = fmt.Errorf("%w (-prior 0.5 is a weak one)", err)
	}
	return fmt.Errorf("%s: %w", o.rankings, err)
}

func (r *mixture) measure(rankings *worth.Observations) (*mixtureMeasured, error) {
	of, weight, err := r.model.Evaluate(rankings)
	if err != nil {
		return nil, err
	}
	ofOne, _, err := r.one.Evaluate(rankings)
	return &mixtureMeasured{rankings.Len(), weight, of / weight, ofOne / weight}, err
}

// writeCSV writes a row for each item of each component.
func (r *mixture) writeCSV(w io.Writer) error {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	rows := [][]string{{"component", "weight", "item", "worth", "log_worth"}}
	for k, c := range r.Components {
		for _, i := range c.Items {
			rows = append(rows, []string{strconv.Itoa(k + 1), number(c.Weight), i.Item, number(i.Worth), number(i.LogWorth)})
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// print prints the result as a table of worths, a column for each component, or in JSON.
func (r *mixture) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return command.PrintJSON(w, r)
	}
	table := viz.Table{Columns: []string{"item"}}
	weights := viz.Row{"weight"}
	for k, c := range r.Components {
		table.Columns = append(table.Columns, fmt.Sprint("component ", k+1))
		weights = append(weights, c.Weight)
	}
	table.Rows = append(table.Rows, weights)
	first := r.Components[0].Items
	byWorth := num.DescendingOrder(nil, r.model.Components[0].Worths())
	for _, i := range byWorth[:min(shownItems, len(first))] {
		row := viz.Row{command.Printable(first[i].Item)}
		for _, c := range r.Components {
			row = append(row, fmt.Sprintf("%#.4g", c.Items[i].Worth))
		}
		table.Rows = append(table.Rows, row)
	}
	fmt.Fprint(w, table)
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
	table = viz.Table{Title: "\nper ranking: the mean log-likelihood, beside that of one component",
		Columns: []string{"", "rankings", "weight", "log-likelihood", "one component"}}
	row := func(name string, m *mixtureMeasured) {
		table.Rows = append(table.Rows, viz.Row{name, m.Rankings, fmt.Sprint(m.Weight), m.LogLikelihood, m.OneComponent})
	}
	row("fitted to", r.Train)
	if r.Test != nil {
		row("test", r.Test)
	}
	fmt.Fprint(w, table)
	return nil
}
