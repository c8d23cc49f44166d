// Package golearn converts between a [datasets.Dataset] and the grids of
// github.com/sjwhitworth/golearn, and has a pointwise baseline of golearn's.
package golearn

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/sjwhitworth/golearn/base"

	"github.com/plrank/plrank/datasets"
)

// GridOptions names the columns of a grid that are not features. The zero value is for
// golearn's algorithms: features, and the label as the class.
type GridOptions struct {
	LabelColumn string // of the label; empty: "label"
	QueryColumn string // of the query id; empty: the grid has none

	// Of the weights of documents, of the weights of queries and of the groups of
	// documents; empty: there are none.
	WeightColumn, QueryWeightColumn, GroupColumn string
}

// noGroup stands for no group, as in files.
const noGroup = "-1"

// Grid is a view of a dataset as a grid of golearn, which copies nothing: features as
// FloatAttributes named as in the dataset (or by their ids), then the label, a
// FloatAttribute that is the class, then the columns that the options name. Query ids are a
// FloatAttribute if all are whole numbers, else a CategoricalAttribute; weights are
// FloatAttributes, and groups are a CategoricalAttribute of all group names, in which -1
// stands for no group. Document ids are not in the grid. Text written
// with the precision of a FloatAttribute reads back as the same float32.
//
// Errors are two columns with one name, weights or groups of the dataset that have no
// column, columns of weights or groups that the dataset does not have, and groups with one
// name, an empty one or -1.
func Grid(d *datasets.Dataset, o GridOptions) (base.FixedDataGrid, error) {
	if o.LabelColumn == "" {
		o.LabelColumn = "label"
	}
	if err := o.check(d); err != nil {
		return nil, err
	}
	g := &grid{d: d, template: base.NewDenseInstances(), column: map[string]int{}}
	for c := range d.Width() {
		g.add(&base.FloatAttribute{Name: name(d, c), Precision: precision(d.Features, c, d.Width())})
	}
	label := &base.FloatAttribute{Name: o.LabelColumn, Precision: precision(d.Labels, 0, 1)}
	g.add(label)
	g.classes = []base.Attribute{label}
	if o.QueryColumn != "" {
		g.addQuery(o.QueryColumn)
	}
	if o.WeightColumn != "" {
		g.addWeights(o.WeightColumn, d.Weights, func(row int) int { return row })
	}
	if o.QueryWeightColumn != "" {
		g.addWeights(o.QueryWeightColumn, d.QueryWeights, g.query)
	}
	if o.GroupColumn != "" {
		if err := g.addGroups(o.GroupColumn); err != nil {
			return nil, err
		}
	}
	if len(g.column) < len(g.attributes) {
		return nil, fmt.Errorf("golearn: %s: two columns have the same name: please choose other names than %s", d.Name, o.names())
	}
	return g, nil
}

// check compares the options with the dataset.
func (o GridOptions) check(d *datasets.Dataset) error {
	for _, column := range []struct {
		what, option, name string
		has                bool
	}{
		{"weights of documents", "WeightColumn", o.WeightColumn, d.Weights != nil},
		{"weights of queries", "QueryWeightColumn", o.QueryWeightColumn, d.QueryWeights != nil},
		{"groups", "GroupColumn", o.GroupColumn, d.Groups != nil},
	} {
		switch {
		case column.has && column.name == "":
			return fmt.Errorf("golearn: %s has %s: please name their column, %s, or take them out of the dataset", d.Name, column.what, column.option)
		case !column.has && column.name != "":
			return fmt.Errorf("golearn: %s has no %s for column %q", d.Name, column.what, column.name)
		}
	}
	return nil
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

// name is the name of a column in a grid.
func name(d *datasets.Dataset, column int) string {
	if d.FeatureNames != nil && d.FeatureNames[column] != "" {
		return d.FeatureNames[column]
	}
	return strconv.Itoa(d.FeatureIDs[column])
}

// precision is the number of decimals that gives every value of a column nine significant
// digits.
func precision(values []float32, column, width int) int {
	least := math.Inf(1)
	whole := true
	for i := column; i < len(values); i += width {
		v := math.Abs(float64(values[i]))
		if v > 0 {
			least = math.Min(least, v)
			whole = whole && v == math.Trunc(v)
		}
	}
	if whole {
		return 0
	}
	return max(0, 8-int(math.Floor(math.Log10(least))))
}

type grid struct {
	d          *datasets.Dataset
	template   *base.DenseInstances // has the attributes, no rows: only golearn itself can make their specs
	attributes []base.Attribute
	column     map[string]int // by name; the label comes after the features, and then
	others     []func(row int) []byte
	classes    []base.Attribute
}

func (g *grid) add(a base.Attribute) {
	g.column[a.GetName()] = len(g.attributes)
	g.attributes = append(g.attributes, a)
	g.template.AddAttribute(a)
}

// query is the query of a row.
func (g *grid) query(row int) int { return sort.SearchInts(g.d.Offsets, row+1) - 1 }

func (g *grid) addQuery(name string) {
	numbers := true
	for _, id := range g.d.QueryIDs {
		n, err := strconv.ParseInt(id, 10, 53)
		numbers = numbers && err == nil && strconv.FormatInt(n, 10) == id
	}
	var values [][]byte // by query
	if numbers {
		g.add(&base.FloatAttribute{Name: name})
		for _, id := range g.d.QueryIDs {
			n, _ := strconv.ParseInt(id, 10, 53)
			values = append(values, base.PackFloatToBytes(float64(n)))
		}
	} else {
		a := &base.CategoricalAttribute{Name: name}
		g.add(a)
		for _, id := range g.d.QueryIDs {
			values = append(values, a.GetSysValFromString(id))
		}
	}
	g.others = append(g.others, func(row int) []byte { return values[g.query(row)] })
}

// addWeights adds a column of weights: that of a row is weights[of(row)].
func (g *grid) addWeights(name string, weights []float32, of func(row int) int) {
	g.add(&base.FloatAttribute{Name: name, Precision: precision(weights, 0, 1)})
	g.others = append(g.others, func(row int) []byte { return base.PackFloatToBytes(float64(weights[of(row)])) })
}

func (g *grid) addGroups(name string) error {
	a := &base.CategoricalAttribute{Name: name}
	n := len(g.d.GroupNames)
	if g.d.GroupNames == nil && len(g.d.Groups) > 0 {
		n = max(0, slices.Max(g.d.Groups)+1)
	}
	var values [][]byte // by group, and then that of none
	for group := range n {
		name := g.d.GroupName(group)
		if name == "" || name == noGroup || a.GetSysVal(name) != nil {
			return fmt.Errorf("golearn: %s: group %d has the name %q: want different names, not empty and not %s", g.d.Name, group, name, noGroup)
		}
		values = append(values, a.GetSysValFromString(name))
	}
	if slices.ContainsFunc(g.d.Groups, func(group int) bool { return group < 0 }) {
		values = append(values, a.GetSysValFromString(noGroup))
	}
	g.add(a)
	g.others = append(g.others, func(row int) []byte {
		if group := g.d.Groups[row]; group >= 0 {
			return values[group]
		}
		return values[n]
	})
	return nil
}

func (g *grid) GetAttribute(a base.Attribute) (base.AttributeSpec, error) {
	return g.template.GetAttribute(a)
}

func (g *grid) AllAttributes() []base.Attribute {
	return append([]base.Attribute(nil), g.attributes...)
}

func (g *grid) AllClassAttributes() []base.Attribute {
	return append([]base.Attribute(nil), g.classes...)
}

func (g *grid) AddClassAttribute(a base.Attribute) error {
	if _, ok := g.column[a.GetName()]; !ok {
		return fmt.Errorf("golearn: no attribute %q in the grid", a.GetName())
	}
	g.classes = append(g.classes, a)
	return nil
}

func (g *grid) RemoveClassAttribute(a base.Attribute) error {
	for i, c := range g.classes {
		if c.Equals(a) {
			g.classes = append(g.classes[:i:i], g.classes[i+1:]...)
			return nil
		}
	}
	return fmt.Errorf("golearn: attribute %q of the grid is not a class", a.GetName())
}

// Get is the value in golearn's format, eight bytes.
func (g *grid) Get(spec base.AttributeSpec, row int) []byte {
	return g.value(g.column[spec.GetAttribute().GetName()], row)
}

func (g *grid) value(column, row int) []byte {
	switch w := g.d.Width(); {
	case column < w:
		return base.PackFloatToBytes(float64(g.d.Features[row*w+column]))
	case column == w:
		return base.PackFloatToBytes(float64(g.d.Labels[row]))
	}
	return g.others[column-g.d.Width()-1](row)
}

func (g *grid) MapOverRows(specs []base.AttributeSpec, f func(row [][]byte, rowNo int) (bool, error)) error {
	columns := make([]int, len(specs))
	for i, s := range specs {
		columns[i] = g.column[s.GetAttribute().GetName()]
	}
	row := make([][]byte, len(specs))
	for r := range g.d.Rows() {
		for i, c := range columns {
			row[i] = g.value(c, r)
		}
		more, err := f(row, r)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

func (g *grid) RowString(row int) string {
	var words []string
	for c, a := range g.attributes {
		words = append(words, a.GetStringFromSysVal(g.value(c, row)))
	}
	return strings.Join(words, " ")
}

// Size is the number of attributes and of rows.
func (g *grid) Size() (int, int) { return len(g.attributes), g.d.Rows() }

// String is that of the dataset.
func (g *grid) String() string { return g.d.String() }
