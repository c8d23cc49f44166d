// Package explain implements the sub-command that divides the difference of two scores among the features.
package explain

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/viz"
)

var page = cli.Page{
	Command: "explain",
	Usage:   []string{"-model FILE -data FILE -query Q [-document D] [-against D] [-json]"},
	Text: "Says why a document of a query is above another one, or above the mean of its query: the difference of their scores " +
		"is divided among the features by Shapley values, which add up to it. " +
		"Features whose values are equal have no part, except in forests: there, features of the query have one, compared with the " +
		"other queries of the file. Values are exact for forests and mixtures of forests, and sampled for other models.",
	Examples: []string{
		"-model runs/fold1/model.npz -data test.txt -query 18219",
		"-model shop.npz -data shop.csv -query 7 -document 2 -against 5",
	},
}

// options are the command line.
type options struct {
	cli.Source
	model                    string
	query, document, against string
	permutations             int
	seed                     uint64
	interactions, asJSON     bool
}

func (o *options) Flags() cli.Flags {
	o.permutations = 1000
	return append(cli.Flags{
		{Name: "model", Value: &o.model, Help: "a model `file`"},
		{Name: "data", Value: &o.Data, Help: "the `file` of the documents"},
		{Name: "query", Value: &o.query, Help: "`id` of the query"},
		{Name: "document", Value: &o.document, Help: "`id` of the document to explain, or its number within the query, from 1, where " +
			"documents have no ids; without it, the one ranked first"},
		{Name: "against", Value: &o.against, Help: "the `document` to compare it with, likewise; without it, the mean of the query"},
		{Name: "interactions", Value: &o.interactions, Help: "also what two features of a forest give together, beyond what each gives alone"},
		{Name: "permutations", Value: cli.Int(&o.permutations, 4, 1_000_000), Help: "`number` of orders of the features: four times as many " +
			"halve the standard errors, which less than about 200 do not have. Forests need none"},
		{Name: "seed", Value: &o.seed, Help: "`seed` of the orders"},
		cli.JSONFlag(&o.asJSON),
		cli.ThreadsFlag(),
	}, o.ReadingFlags()...)
}

func (o *options) Check(*cli.Line) error {
	return cmp.Or(
		cli.ErrorIf(o.model == "" || o.Data == "" || o.query == "", "-model, -data and -query are all needed"),
		o.Source.Check())
}

// Run runs the sub-command, and returns its exit status.
var Run = cli.Command[options](page)

// A result is what -json prints.
type result struct {
	Query      string    `json:"query"`
	Document   string    `json:"document"`
	Against    string    `json:"against,omitempty"` // absent: the mean of the query
	Difference float64   `json:"difference"`
	Base       float64   `json:"base,omitempty"` // the part of the base scores
	Features   []feature `json:"features"`       // those whose values differ, largest part first
	Exact      bool      `json:"exact"`          // the parts are not sampled

	// Background is the number of other queries that query features are compared with.
	Background   int           `json:"background,omitempty"`
	Interactions []interaction `json:"interactions,omitempty"` // largest first
}

type interaction struct {
	Features [2]string `json:"features"`
	Value    float64   `json:"value"`
}

type feature struct {
	Feature       string   `json:"feature"`
	Value         any      `json:"value"` // null: it is missing; of products of the same two vectors, a list
	Other         any      `json:"other,omitempty"`
	Part          float64  `json:"part"`
	StandardError *float64 `json:"standardError,omitempty"` // absent with few permutations
}

// Run explains the difference.
func (o *options) Run(ctx context.Context, _ *cli.Line, _ io.Reader, stdout, stderr io.Writer) error {
	m, err := ranker.Open(o.model)
	if err != nil {
		return err
	}
	wanted := cli.Without(datasets.OptionsFor(m), "weight", "group")
	wanted.Labels = "unused"
	d, err := o.ReadFile(ctx, wanted, stderr)
	if err != nil {
		return err
	}
	q := slices.Index(d.QueryIDs, o.query)
	if q < 0 {
		return fmt.Errorf("%s has no query %q: there are %s", o.Data, o.query, text.List(d.QueryIDs))
	}
	if o.interactions && !m.ExplainsExactly() {
		return fmt.Errorf("-interactions are of forests and of mixtures of forests, and %s is neither", o.model)
	}
	background := others(m, d, q)
	d = d.Select([]int{q})
	cli.WarnOfSeen(stderr, o.model, m, d)
	r, err := o.explain(ctx, m, d, background)
	if err != nil {
		return err
	}
	if o.asJSON {
		return cli.PrintJSON(stdout, r)
	}
	r.print(stdout)
	return nil
}

// mostOthers is the number of other queries that query features are compared with.
const mostOthers = 50

// others returns a row for each of some other queries, which differs from the ones of query q in the features that are the same for
// all documents of any query: nothing if a forest uses none of them.
func others(m *ranker.Model, d *datasets.Dataset, q int) (rows []float32) {
	if !m.ExplainsExactly() {
		return nil
	}
	var columns []int
	used, varying := m.UsedFeatures(), d.Varying(true)
	for column, id := range d.FeatureIDs {
		if _, ok := slices.BinarySearch(used, id); ok && !slices.Contains(varying, column) {
			columns = append(columns, column)
		}
	}
	if columns == nil {
		return nil
	}
	n := min(mostOthers, d.Queries())
	for i := range n {
		if other := i * d.Queries() / n; other != q {
			rows = append(rows, d.Row(d.Offsets[q])...)
			for _, column := range columns {
				rows[len(rows)-d.Width()+column] = d.Value(d.Offsets[other], column)
			}
		}
	}
	return rows
}

// explain explains a document of the only query of a dataset.
func (o *options) explain(ctx context.Context, m *ranker.Model, d *datasets.Dataset, background []float32) (*result, error) {
	scores, err := datasets.Score(m, d)
	if err != nil {
		return nil, err
	}
	ids := d.DocumentIDs
	if ids == nil {
		for i := range scores {
			ids = append(ids, strconv.Itoa(i+1))
		}
	}
	c := ranker.Comparison{Other: ranker.MeanOfQuery, Permutations: o.permutations, Seed: o.seed,
		Interactions: o.interactions, Background: background}
	for i, s := range scores {
		if s > scores[c.Document] {
			c.Document = i
		}
	}
	for flag, at := range map[string]*int{"document": &c.Document, "against": &c.Other} {
		id := map[string]string{"document": o.document, "against": o.against}[flag]
		if id == "" {
			continue
		}
		if *at = slices.Index(ids, id); *at < 0 {
			return nil, fmt.Errorf("-%s: query %s has no document %q: there are %s", flag, o.query, id, text.List(ids))
		}
	}
	var base []float32
	if m.OnBaseScores() {
		base = d.BaseScores
	}
	e, err := m.Explain(ctx, d.Dense(nil, 0, d.Rows()), base, c)
	if err != nil {
		return nil, err
	}
	r := &result{Query: o.query, Document: ids[c.Document], Difference: e.Difference, Base: e.Base, Features: []feature{},
		Exact: e.Exact, Background: len(background) / d.Width()}
	if c.Other >= 0 {
		r.Against = ids[c.Other]
	}
	for column, part := range e.Values {
		if part == 0 && (e.Errors == nil || e.Errors[column] == 0) {
			continue
		}
		f := feature{Feature: m.BlockName(column), Value: valueOf(m, d, c.Document, column), Part: part}
		if e.Errors != nil {
			f.StandardError = &e.Errors[column]
		}
		if c.Other >= 0 {
			f.Other = valueOf(m, d, c.Other, column)
		}
		r.Features = append(r.Features, f)
	}
	for _, i := range e.Interactions {
		r.Interactions = append(r.Interactions, interaction{[2]string{m.BlockName(i.Columns[0]), m.BlockName(i.Columns[1])}, i.Value})
	}
	slices.SortStableFunc(r.Features, func(a, b feature) int { return cmp.Compare(math.Abs(b.Part), math.Abs(a.Part)) })
	return r, nil
}

// mostInteractions are printed; -json has all.
const mostInteractions = 20

// print prints a table of the features.
func (r *result) print(w io.Writer) {
	columns, part := []string{"feature", r.Document, "part"}, 2
	withErrors := len(r.Features) > 0 && r.Features[0].StandardError != nil
	if withErrors {
		columns = append(columns, "std. error")
	}
	than, side := "the mean of the query", "above"
	if r.Against != "" {
		than, columns, part = "the one of document "+r.Against, slices.Insert(columns, 2, r.Against), 3
	}
	if r.Difference < 0 {
		side = "below"
	}
	cli.PrintNote(w, fmt.Sprintf("Query %s: the score of document %s is %.4f %s %s.", r.Query, r.Document, math.Abs(r.Difference), side, than))
	fmt.Fprintln(w)
	table := viz.Table{Columns: columns}
	if r.Base != 0 {
		row := make(viz.Row, len(columns))
		row[0], row[part] = "(base scores)", r.Base
		table.Rows = append(table.Rows, row)
	}
	for _, f := range r.Features {
		row := viz.Row{f.Feature, shown(f.Value)}
		if r.Against != "" {
			row = append(row, shown(f.Other))
		}
		if row = append(row, f.Part); withErrors {
			row = append(row, *f.StandardError)
		}
		table.Rows = append(table.Rows, row)
	}
	fmt.Fprint(w, table)
	if len(r.Interactions) > 0 {
		together := viz.Table{Columns: []string{"feature", "and", "together"}}
		for _, i := range r.Interactions[:min(len(r.Interactions), mostInteractions)] {
			together.Rows = append(together.Rows, viz.Row{i.Features[0], i.Features[1], i.Value})
		}
		fmt.Fprintf(w, "\n%s", together)
	}
	fmt.Fprintln(w)
	switch {
	case r.Exact && r.Background > 0:
		cli.PrintNote(w, fmt.Sprintf("The parts are exact. Other queries that query features are compared with: %d.", r.Background))
	case r.Exact:
		cli.PrintNote(w, "The parts are exact.")
	case withErrors:
		cli.PrintNote(w, "The parts are means over sampled orders of the features.")
	case len(r.Features) > 0:
		cli.PrintNote(w, "Standard errors of so few orders would be too small too often: give more -permutations.")
	}
}

// valueOf returns the value of a feature of a document, or the list of a block's values.
func valueOf(m *ranker.Model, d *datasets.Dataset, document, column int) any {
	var list []any
	for _, c := range m.Block(column) {
		list = append(list, cli.FeatureValue(d, d.Value(document, c), c))
	}
	if len(list) == 1 {
		return list[0]
	}
	return list
}

func shown(value any) string {
	switch v := value.(type) {
	case nil:
		return "missing"
	case []any:
		var words []string
		for _, one := range v {
			words = append(words, shown(one))
		}
		return strings.Join(words, ", ")
	}
	return fmt.Sprint(value)
}
