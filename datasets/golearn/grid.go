// Package golearn converts between a [datasets.Dataset] and the grids of
// github.com/sjwhitworth/golearn.
package golearn

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/sjwhitworth/golearn/base"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/datasets/internal/reader"
)

// GridOptions names the columns of a grid that are not features. The zero value is for
// golearn's algorithms: features, and the label as the class.
type GridOptions struct {
	LabelColumn string // of the label; empty: "label"
	QueryColumn string // of the query id; empty: the grid has none

	// The columns of weights and of groups of documents. Empty: there are none.
	WeightColumn, GroupColumn string
}

// Grid copies a dataset to a grid of golearn: features as FloatAttributes named as in the dataset (or by their ids), then the
// label, a FloatAttribute that is the class, then the columns that the options name. Query ids are a
// FloatAttribute if all are whole numbers, else a CategoricalAttribute; weights are
// FloatAttributes, and groups are a CategoricalAttribute of all group names, in which -1
// stands for no group. Document ids, Levels, gains, what a log has and base scores are not in
// the grid. Text written with the precision of a FloatAttribute reads back as the same float32.
//
// Grid returns an error for two columns with one name, for weights or groups of the dataset without a
// column, for columns of weights or groups that the dataset does not have, for weights of queries, and for groups with equal names,
// an empty name or -1.
func Grid(d *datasets.Dataset, o GridOptions) (base.FixedDataGrid, error) {
	if d.IsSparse() {
		return nil, fmt.Errorf("golearn: %s: documents are sparse, of %d features: want fewer, or dense ones", d.Name, d.Width())
	}
	if err := d.Validate(); err != nil {
		return nil, fmt.Errorf("golearn: %w", err)
	}
	if d.QueryWeights != nil {
		return nil, fmt.Errorf("golearn: %s has weights of queries, which a grid has no column for: please set QueryWeights to nil", d.Name)
	}
	var list []column
	for c, width := 0, d.Width(); c < width; c++ {
		list = append(list, numbers(d.FeatureName(c), d.Rows(), func(row int) float32 { return d.Features[row*width+c] }))
	}
	list = append(list, numbers(cmp.Or(o.LabelColumn, "label"), d.Rows(), func(row int) float32 { return d.Labels[row] }))
	if o.QueryColumn != "" {
		list = append(list, queries(o.QueryColumn, d))
	}
	for _, optional := range []struct {
		what, option, name string
		has                bool
		column             func() (column, error)
	}{
		{"weights of documents", "WeightColumn", o.WeightColumn, d.Weights != nil, func() (column, error) {
			return numbers(o.WeightColumn, d.Rows(), func(row int) float32 { return d.Weights[row] }), nil
		}},
		{"groups", "GroupColumn", o.GroupColumn, d.Groups != nil, func() (column, error) { return groups(o.GroupColumn, d) }},
	} {
		switch {
		case optional.has && optional.name == "":
			return nil, fmt.Errorf("golearn: %s has %s: please name their column, %s, or take them out of the dataset", d.Name, optional.what,
				optional.option)
		case optional.has:
			c, err := optional.column()
			if err != nil {
				return nil, err
			}
			list = append(list, c)
		case optional.name != "":
			return nil, fmt.Errorf("golearn: %s has no %s for column %q", d.Name, optional.what, optional.name)
		}
	}
	return fill(d, list)
}

// column is a column of a grid.
type column struct {
	base.Attribute
	value func(row int) []byte // in golearn's format, eight bytes
}

// fill makes the grid of these columns. Behind the features is the label.
func fill(d *datasets.Dataset, list []column) (base.FixedDataGrid, error) {
	grid, names := base.NewDenseInstances(), map[string]bool{}
	var specs []base.AttributeSpec
	for _, c := range list {
		if names[c.GetName()] {
			return nil, fmt.Errorf("golearn: %s: two columns have the same name, %q: please choose other names in the options", d.Name, c.GetName())
		}
		names[c.GetName()] = true
		specs = append(specs, grid.AddAttribute(c.Attribute))
	}
	if err := grid.Extend(d.Rows()); err != nil {
		return nil, fmt.Errorf("golearn: %w", err)
	}
	for i, c := range list {
		for row := range d.Rows() {
			grid.Set(specs[i], row, c.value(row))
		}
	}
	return grid, grid.AddClassAttribute(list[d.Width()].Attribute)
}

// numbers is a column of numbers, with enough decimals that every value has nine significant digits.
func numbers(name string, rows int, value func(row int) float32) column {
	least, whole := math.Inf(1), true
	for row := range rows {
		if v := math.Abs(float64(value(row))); v > 0 {
			least = math.Min(least, v)
			whole = whole && v == math.Trunc(v)
		}
	}
	precision := 0
	if !whole {
		precision = max(0, 8-int(math.Floor(math.Log10(least))))
	}
	return column{&base.FloatAttribute{Name: name, Precision: precision},
		func(row int) []byte { return base.PackFloatToBytes(float64(value(row))) }}
}

func queries(name string, d *datasets.Dataset) column {
	var a base.Attribute = &base.FloatAttribute{Name: name}
	if slices.ContainsFunc(d.QueryIDs, func(id string) bool {
		n, err := strconv.ParseInt(id, 10, 53)
		return err != nil || strconv.FormatInt(n, 10) != id
	}) {
		a = &base.CategoricalAttribute{Name: name}
	}
	var values [][]byte // by row
	for q, id := range d.QueryIDs {
		values = append(values, slices.Repeat([][]byte{a.GetSysValFromString(id)}, d.Offsets[q+1]-d.Offsets[q])...)
	}
	return column{a, func(row int) []byte { return values[row] }}
}

func groups(name string, d *datasets.Dataset) (column, error) {
	a := &base.CategoricalAttribute{Name: name}
	n := len(d.GroupNames)
	if d.GroupNames == nil && len(d.Groups) > 0 {
		n = max(0, slices.Max(d.Groups)+1)
	}
	var values [][]byte // by group
	for group := range n {
		name := d.GroupName(group)
		if name == "" || name == reader.NoGroup || a.GetSysVal(name) != nil {
			return column{}, fmt.Errorf("golearn: %s: group %d has the name %q: want different names, not empty and not %s", d.Name, group, name,
				reader.NoGroup)
		}
		values = append(values, a.GetSysValFromString(name))
	}
	return column{a, func(row int) []byte {
		if d.Groups[row] < 0 {
			return a.GetSysValFromString(reader.NoGroup)
		}
		return values[d.Groups[row]]
	}}, nil
}
