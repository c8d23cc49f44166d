// Package golearn converts between a [datasets.Dataset] and the grids of
// github.com/sjwhitworth/golearn.
package golearn

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/sjwhitworth/golearn/base"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/datasets/internal/reader"
)

// GridOptions names the columns of a grid that are not features. The zero value is for
// golearn's algorithms: features, and the label as the class.
type GridOptions struct {
	LabelColumn string // of the label; empty: "label"
	QueryColumn string // of the query id; empty: the grid has none

	// The columns of weights of documents and of queries, and of groups of documents. Empty: there are none.
	WeightColumn, QueryWeightColumn, GroupColumn string
}

// Grid is a view of a dataset as a grid of golearn, which copies nothing: features as
// FloatAttributes named as in the dataset (or by their ids), then the label, a
// FloatAttribute that is the class, then the columns that the options name. Query ids are a
// FloatAttribute if all are whole numbers, else a CategoricalAttribute; weights are
// FloatAttributes, and groups are a CategoricalAttribute of all group names, in which -1
// stands for no group. Document ids, Levels, gains, what a log has, and base scores are not in
// the grid. Text written with the precision of a FloatAttribute reads back as the same float32.
//
// Grid returns an error for two columns with one name, for weights or groups of the dataset without a
// column, for columns of weights or groups that the dataset does not have, and for groups with equal names, an empty name or
// -1.
func Grid(d *datasets.Dataset, o GridOptions) (base.FixedDataGrid, error) {
	if d.IsSparse() {
		return nil, fmt.Errorf("golearn: %s: documents are sparse, of %d features: want fewer, or dense ones", d.Name, d.Width())
	}
	o.LabelColumn = cmp.Or(o.LabelColumn, "label")
	g := &grid{d: d, options: o, column: map[string]int{}}
	for c, width := 0, d.Width(); c < width; c++ {
		if err := g.addNumbers(d.FeatureName(c), d.Features, func(row int) int { return row*width + c }); err != nil {
			return nil, err
		}
	}
	ofRow := func(row int) int { return row }
	for _, column := range []struct {
		what, option, name string
		has                bool
		add                func(name string) error
	}{
		{"labels", "LabelColumn", o.LabelColumn, true,
			func(name string) error { return g.addNumbers(name, d.Labels, ofRow) }},
		{"query ids", "QueryColumn", o.QueryColumn, o.QueryColumn != "", g.addQueries},
		{"weights of documents", "WeightColumn", o.WeightColumn, d.Weights != nil,
			func(name string) error { return g.addNumbers(name, d.Weights, ofRow) }},
		{"weights of queries", "QueryWeightColumn", o.QueryWeightColumn, d.QueryWeights != nil,
			func(name string) error { return g.addNumbers(name, d.QueryWeights, g.query) }},
		{"groups", "GroupColumn", o.GroupColumn, d.Groups != nil, g.addGroups},
	} {
		var err error
		switch {
		case column.has && column.name == "":
			err = fmt.Errorf("golearn: %s has %s: please name their column, %s, or take them out of the dataset", d.Name, column.what, column.option)
		case column.has:
			err = column.add(column.name)
		case column.name != "":
			err = fmt.Errorf("golearn: %s has no %s for column %q", d.Name, column.what, column.name)
		}
		if err != nil {
			return nil, err
		}
	}
	template := base.NewDenseInstances()
	for _, a := range g.attributes {
		template.AddAttribute(a)
	}
	g.FixedDataGrid = template
	return g, g.AddClassAttribute(g.attributes[d.Width()]) // the label
}

// names lists the columns that are not features, for a message.
func (o GridOptions) names() string {
	var list []string
	for _, name := range []string{o.LabelColumn, o.QueryColumn, o.WeightColumn, o.QueryWeightColumn, o.GroupColumn} {
		if name != "" {
			list = append(list, strconv.Quote(name))
		}
	}
	return strings.Join(list, ", ")
}

// grid computes its values from the dataset. It embeds a template without rows, for the specs
// of attributes, which only golearn itself can make, and for which of them are classes.
type grid struct {
	base.FixedDataGrid

	d          *datasets.Dataset
	options    GridOptions
	attributes []base.Attribute
	values     []func(row int) []byte // by attribute: in golearn's format, eight bytes
	column     map[string]int         // by name
}

// add adds a column. It returns an error if there is one of that name.
func (g *grid) add(a base.Attribute, value func(row int) []byte) error {
	if _, again := g.column[a.GetName()]; again {
		return fmt.Errorf("golearn: %s: two columns have the same name, %q: please choose other names than %s", g.d.Name, a.GetName(),
			g.options.names())
	}
	g.column[a.GetName()] = len(g.attributes)
	g.attributes, g.values = append(g.attributes, a), append(g.values, value)
	return nil
}

// query is the query of a row.
func (g *grid) query(row int) int { return sort.SearchInts(g.d.Offsets, row+1) - 1 }

// addNumbers adds a column that has values[at(row)], with enough decimals that every value
// has nine significant digits.
func (g *grid) addNumbers(name string, values []float32, at func(row int) int) error {
	least, whole := math.Inf(1), true
	for row := range g.d.Rows() {
		if v := math.Abs(float64(values[at(row)])); v > 0 {
			least = math.Min(least, v)
			whole = whole && v == math.Trunc(v)
		}
	}
	precision := 0
	if !whole {
		precision = max(0, 8-int(math.Floor(math.Log10(least))))
	}
	a := &base.FloatAttribute{Name: name, Precision: precision}
	return g.add(a, func(row int) []byte { return base.PackFloatToBytes(float64(values[at(row)])) })
}

func (g *grid) addQueries(name string) error {
	var a base.Attribute = &base.FloatAttribute{Name: name}
	if slices.ContainsFunc(g.d.QueryIDs, func(id string) bool {
		n, err := strconv.ParseInt(id, 10, 53)
		return err != nil || strconv.FormatInt(n, 10) != id
	}) {
		a = &base.CategoricalAttribute{Name: name}
	}
	var values [][]byte // by query
	for _, id := range g.d.QueryIDs {
		values = append(values, a.GetSysValFromString(id))
	}
	return g.add(a, func(row int) []byte { return values[g.query(row)] })
}

func (g *grid) addGroups(name string) error {
	a := &base.CategoricalAttribute{Name: name}
	n := len(g.d.GroupNames)
	if g.d.GroupNames == nil && len(g.d.Groups) > 0 {
		n = max(0, slices.Max(g.d.Groups)+1)
	}
	var values [][]byte // by group, and last the value for none
	for group := range n {
		name := g.d.GroupName(group)
		if name == "" || name == reader.NoGroup || a.GetSysVal(name) != nil {
			return fmt.Errorf("golearn: %s: group %d has the name %q: want different names, not empty and not %s", g.d.Name, group, name,
				reader.NoGroup)
		}
		values = append(values, a.GetSysValFromString(name))
	}
	if slices.ContainsFunc(g.d.Groups, func(group int) bool { return group < 0 }) {
		values = append(values, a.GetSysValFromString(reader.NoGroup))
	}
	return g.add(a, func(row int) []byte {
		if group := g.d.Groups[row]; group >= 0 {
			return values[group]
		}
		return values[n]
	})
}

// AllAttributes returns the attributes in the order of the columns, which the template does not keep.
func (g *grid) AllAttributes() []base.Attribute { return slices.Clone(g.attributes) }

func (g *grid) Get(spec base.AttributeSpec, row int) []byte {
	return g.values[g.column[spec.GetAttribute().GetName()]](row)
}

func (g *grid) MapOverRows(specs []base.AttributeSpec, f func(row [][]byte, rowNo int) (bool, error)) error {
	values := make([]func(int) []byte, len(specs))
	for i, s := range specs {
		values[i] = g.values[g.column[s.GetAttribute().GetName()]]
	}
	row := make([][]byte, len(specs))
	for r := range g.d.Rows() {
		for i, value := range values {
			row[i] = value(r)
		}
		if more, err := f(row, r); err != nil || !more {
			return err
		}
	}
	return nil
}

func (g *grid) RowString(row int) string {
	var words []string
	for c, a := range g.attributes {
		words = append(words, a.GetStringFromSysVal(g.values[c](row)))
	}
	return strings.Join(words, " ")
}

// Size returns the numbers of attributes and of rows.
func (g *grid) Size() (int, int) { return len(g.attributes), g.d.Rows() }

func (g *grid) String() string { return g.d.String() }
