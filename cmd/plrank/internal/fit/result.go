package fit

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/viz"
	"github.com/plrank/plrank/worth"
)

const (
	confidence = 0.95
	quantile   = 1.959963984540054 // of the Gaussian, at (1 + confidence)/2
	shownItems = 50                // in a table or picture
)

// A result is what -json prints.
type result struct {
	Items         []item           `json:"items"` // the largest worth first
	Ties          []tie            `json:"ties,omitempty"`
	LogLikelihood float64          `json:"logLikelihood"`
	Parameters    int              `json:"parameters"`
	AIC           float64          `json:"aic"`
	EqualWorths   *worth.RatioTest `json:"equalWorths,omitempty"`
	Train         *evaluation      `json:"train"`
	Test          *evaluation      `json:"test,omitempty"`

	model *worth.Model
}

// An item has no standard error, NaN, and ranks of 0, if they are not known.
type item struct {
	Item     string      `json:"item"`
	Worth    float64     `json:"worth"`
	LogWorth float64     `json:"logWorth"`
	StdErr   train.Value `json:"stdErr"`
	Rank     int         `json:"rank"`
	RankLow  int         `json:"rankLow,omitempty"`
	RankHigh int         `json:"rankHigh,omitempty"`

	number int // in the model
}

// A tie has the parameter of ties of one size, with its standard error.
type tie struct {
	Size     int         `json:"size"` // items
	LogDelta float64     `json:"logDelta"`
	StdErr   train.Value `json:"stdErr"`
}

// An evaluation says how well a model, and equal worths, predict rankings.
type evaluation struct {
	Rankings      int         `json:"rankings"`
	Weight        float64     `json:"weight"`
	LogLikelihood float64     `json:"logLikelihood"` // the mean of a ranking
	EqualWorths   float64     `json:"logLikelihoodOfEqualWorths"`
	Tau           train.Value `json:"tau"`
}

// newResult returns the result without standard errors.
func newResult(m *worth.Model) *result {
	r := &result{model: m, LogLikelihood: m.LogLikelihood, Parameters: m.Parameters(), AIC: m.AIC()}
	unknown := train.Value(math.NaN())
	for i, w := range m.Worths() {
		r.Items = append(r.Items, item{Item: m.Items[i], Worth: w, LogWorth: m.LogWorths[i], StdErr: unknown, number: i})
	}
	slices.SortStableFunc(r.Items, func(a, b item) int { return cmp.Compare(b.LogWorth, a.LogWorth) })
	for i := range r.Items {
		r.Items[i].Rank = i + 1
		if i > 0 && r.Items[i].LogWorth == r.Items[i-1].LogWorth {
			r.Items[i].Rank = r.Items[i-1].Rank
		}
	}
	for i, size := range m.TieOrders {
		r.Ties = append(r.Ties, tie{size, m.LogTies[i], unknown})
	}
	return r
}

// infer adds standard errors, intervals of ranks and, for a model without a prior, the test of equal worths. It warns of
// what cannot be computed. It returns an error if it is interrupted.
func (r *result) infer(ctx context.Context, prior bool, stderr io.Writer) error {
	u, err := cli.Await(ctx, r.model.Uncertainty)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		command.Warn(stderr, err.Error())
	} else {
		r.addErrors(u, stderr)
	}
	if prior {
		return nil
	}
	t, err := r.model.EqualWorths(ctx)
	if err == nil {
		r.EqualWorths = &t
	} else if ctx.Err() == nil {
		command.Warn(stderr, "equal worths are not tested: "+err.Error())
	}
	return ctx.Err()
}

func (r *result) addErrors(u *worth.Uncertainty, stderr io.Writer) {
	var ranks []worth.RankInterval
	if u.Covariance == nil {
		command.Warn(stderr, fmt.Sprintf("more than %d items: standard errors are lower bounds, and ranks have no intervals",
			worth.LargestCovariance))
	} else if ranked, err := r.model.Ranks(u, confidence); err != nil {
		command.Warn(stderr, err.Error())
	} else {
		ranks = ranked
	}
	for i := range r.Items {
		item := &r.Items[i]
		item.StdErr = train.Value(u.StdErrs[item.number])
		if ranks != nil {
			item.RankLow, item.RankHigh = ranks[item.number].Low, ranks[item.number].High
		}
	}
	for i := range r.Ties {
		r.Ties[i].StdErr = train.Value(u.StdErrs[len(r.Items)+i])
	}
}

// evaluate returns how well a model, and one of equal worths, predict rankings.
func evaluate(m *worth.Model, rankings *worth.Observations) (*evaluation, error) {
	e, err := m.Evaluate(rankings)
	if err != nil {
		return nil, err
	}
	equal := *m
	equal.LogWorths = make([]float64, len(m.LogWorths))
	chance, err := equal.Evaluate(rankings)
	if err != nil {
		return nil, err
	}
	return &evaluation{rankings.Len(), e.Weight, e.LogLikelihood / e.Weight, chance.LogLikelihood / e.Weight, train.Value(e.Tau)}, nil
}

// number writes a number for CSV, nothing for NaN.
func number(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// writeCSV writes a row for each item.
func (r *result) writeCSV(w io.Writer) error {
	rows := [][]string{{"item", "worth", "log_worth", "std_err", "rank", "rank_low", "rank_high"}}
	for _, i := range r.Items {
		row := []string{i.Item, number(i.Worth), number(i.LogWorth), number(float64(i.StdErr)), strconv.Itoa(i.Rank), "", ""}
		if i.RankLow > 0 {
			row[5], row[6] = strconv.Itoa(i.RankLow), strconv.Itoa(i.RankHigh)
		}
		rows = append(rows, row)
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// draw draws the log-worths of the first items, with intervals, from the top down.
func (r *result) draw(path string) error {
	items := slices.Clone(r.Items[:min(shownItems, len(r.Items))])
	slices.Reverse(items)
	s := viz.Series{Style: viz.Points}
	p := viz.Plot{Title: "Worths", X: "log-worth less the mean, with 95 % intervals"}
	for at, i := range items {
		half := quantile * float64(i.StdErr)
		s.X, s.Left, s.Right = append(s.X, i.LogWorth), append(s.Left, i.LogWorth-half), append(s.Right, i.LogWorth+half)
		s.Y = append(s.Y, float64(at))
		p.YNames = append(p.YNames, command.Printable(i.Item))
	}
	if len(items) < len(r.Items) {
		p.Title = fmt.Sprintf("The %d largest worths of %d", len(items), len(r.Items))
	}
	p.Series = []viz.Series{s}
	return p.Save(path)
}

// print prints the result as a table.
func (r *result) print(w io.Writer) {
	table := viz.Table{Columns: []string{"rank", "95 %", "item", "worth", "log-worth", "std. error"}}
	for _, i := range r.Items[:min(shownItems, len(r.Items))] {
		interval := "–"
		if i.RankLow > 0 {
			interval = fmt.Sprintf("%d–%d", i.RankLow, i.RankHigh)
		}
		table.Rows = append(table.Rows, viz.Row{i.Rank, interval, command.Printable(i.Item), fmt.Sprintf("%#.4g", i.Worth), i.LogWorth,
			float64(i.StdErr)})
	}
	fmt.Fprint(w, table)
	if n := len(r.Items) - shownItems; n > 0 {
		fmt.Fprintf(w, "%d more items are worth less (-out and -json have all)\n", n)
	}
	fmt.Fprintln(w)
	for _, t := range r.Ties {
		fmt.Fprintf(w, "ties of %d items: log δ %.4f, standard error %s\n", t.Size, t.LogDelta, cli.FormatValue(t.StdErr))
	}
	fmt.Fprintf(w, "parameters %d, log-likelihood %.4f, AIC %.2f\n", r.Parameters, r.LogLikelihood, r.AIC)
	if t := r.EqualWorths; t != nil {
		fmt.Fprintf(w, "likelihood-ratio test of equal worths: χ² %.2f, degrees of freedom %d, p %.3g\n", t.Statistic, t.Freedom, t.PValue)
	}
	fmt.Fprintln(w)
	table = viz.Table{Title: "per ranking: the mean log-likelihood, the one of equal worths, and Kendall's τ",
		Columns: []string{"", "rankings", "weight", "log-likelihood", "equal worths", "Kendall's τ"}}
	for i, e := range []*evaluation{r.Train, r.Test} {
		if e != nil {
			table.Rows = append(table.Rows, viz.Row{[]string{"fitted to", "test"}[i], e.Rankings, fmt.Sprint(e.Weight), e.LogLikelihood,
				e.EqualWorths, cli.FormatValue(e.Tau)})
		}
	}
	fmt.Fprint(w, table)
}
