// Package golearn joins datasets to github.com/sjwhitworth/golearn: a
// datasets.Dataset as a grid that golearn's algorithms and writers take, a
// Dataset from any grid, and a pointwise baseline.
package golearn

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/sjwhitworth/golearn/base"

	"github.com/plrank/plrank/datasets"
)

// GridOptions names the columns of a grid that are no features. The zero value
// is what golearn's algorithms want: features, and the label as the class.
type GridOptions struct {
	LabelColumn string // of the label; empty: "label"
	QueryColumn string // of the query id; empty: the grid has none
}

// Grid shows a dataset as a grid of golearn, without copying it: features as
// FloatAttributes named as in the dataset (or by their ids), then the label, a
// FloatAttribute that is the class, then the query id if the options name it, a
// FloatAttribute where all ids are whole numbers and else a CategoricalAttribute.
// The precision of a FloatAttribute is such that text written with it reads back
// as the same float32. Two columns of one name are an error.
func Grid(d *datasets.Dataset, o GridOptions) (base.FixedDataGrid, error) {
	if o.LabelColumn == "" {
		o.LabelColumn = "label"
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
	if len(g.column) < len(g.attributes) {
		return nil, fmt.Errorf("golearn: %s: two columns have one name: please choose other names for label and query id than %q and %q", d.Name, o.LabelColumn, o.QueryColumn)
	}
	return g, nil
}

// name is how a column is called in a grid.
func name(d *datasets.Dataset, column int) string {
	if d.FeatureNames != nil && d.FeatureNames[column] != "" {
		return d.FeatureNames[column]
	}
	return strconv.Itoa(d.FeatureIDs[column])
}

// precision is the number of decimals with which every ninth significant digit
// of a column's values is written.
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
	column     map[string]int // by name; those of label and query id come after the features
	classes    []base.Attribute
	queries    [][]byte // by query: its value in the grid
	queryOf    []int32  // by row
}

func (g *grid) add(a base.Attribute) {
	g.column[a.GetName()] = len(g.attributes)
	g.attributes = append(g.attributes, a)
	g.template.AddAttribute(a)
}

func (g *grid) addQuery(name string) {
	numbers := true
	for _, id := range g.d.QueryIDs {
		n, err := strconv.ParseInt(id, 10, 53)
		numbers = numbers && err == nil && strconv.FormatInt(n, 10) == id
	}
	if numbers {
		g.add(&base.FloatAttribute{Name: name})
		for _, id := range g.d.QueryIDs {
			n, _ := strconv.ParseInt(id, 10, 53)
			g.queries = append(g.queries, base.PackFloatToBytes(float64(n)))
		}
	} else {
		a := &base.CategoricalAttribute{Name: name}
		g.add(a)
		for _, id := range g.d.QueryIDs {
			g.queries = append(g.queries, a.GetSysValFromString(id))
		}
	}
	g.queryOf = make([]int32, g.d.Rows())
	for q := range g.d.Queries() {
		for r := g.d.Offsets[q]; r < g.d.Offsets[q+1]; r++ {
			g.queryOf[r] = int32(q)
		}
	}
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
	return fmt.Errorf("golearn: %q is no class attribute of the grid", a.GetName())
}

// Get is the value as golearn keeps it: eight bytes.
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
	return g.queries[g.queryOf[row]]
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

// String says in one line what the grid shows.
func (g *grid) String() string { return g.d.String() }

// Dataset makes a dataset of a grid, such as golearn's CSV and ARFF readers make. The options name the attributes with the label and the query id; empty,
// they are the one class attribute, and "qid". The other attributes are features
// with ids 1, 2, … in their order, and keep their names; they must be numbers
// (FloatAttribute or BinaryAttribute). NaN is a missing value. Rows of a query
// that comes back later join it.
//
// Errors are missing or categorical attributes, infinite values or values beyond
// float32, and labels that are not numbers; rows count from 1 in them.
func Dataset(from base.FixedDataGrid, o GridOptions) (*datasets.Dataset, error) {
	if o.QueryColumn == "" {
		o.QueryColumn = "qid"
	}
	if o.LabelColumn == "" {
		classes := from.AllClassAttributes()
		if len(classes) != 1 {
			return nil, fmt.Errorf("golearn: %d class attributes: please name the label column", len(classes))
		}
		o.LabelColumn = classes[0].GetName()
	}
	var label, query base.Attribute
	var features []base.Attribute
	var names []string
	for _, a := range from.AllAttributes() {
		names = append(names, a.GetName())
		switch a.GetName() {
		case o.LabelColumn:
			label = a
		case o.QueryColumn:
			query = a
		default:
			if _, categorical := a.(*base.CategoricalAttribute); categorical {
				return nil, fmt.Errorf("golearn: attribute %q is categorical: please convert it to numbers (filters.NewBinaryConvertFilter), or leave it out", a.GetName())
			}
			features = append(features, a)
		}
	}
	if label == nil || query == nil {
		return nil, fmt.Errorf("golearn: no label attribute %q and query attribute %q among %s", o.LabelColumn, o.QueryColumn, strings.Join(names, ", "))
	}
	if _, ok := label.(*base.FloatAttribute); !ok {
		return nil, fmt.Errorf("golearn: label attribute %q holds no numbers", o.LabelColumn)
	}

	attributes := append([]base.Attribute{label, query}, features...)
	specs := make([]base.AttributeSpec, len(attributes))
	for i, a := range attributes {
		var err error
		if specs[i], err = from.GetAttribute(a); err != nil {
			return nil, fmt.Errorf("golearn: attribute %q: %w", a.GetName(), err)
		}
	}
	_, rows := from.Size()
	byRow := &datasets.Dataset{
		Name:     "golearn grid",
		Features: make([]float32, 0, rows*len(features)),
		Labels:   make([]float32, 0, rows),
	}
	for i, a := range features {
		byRow.FeatureIDs = append(byRow.FeatureIDs, i+1)
		byRow.FeatureNames = append(byRow.FeatureNames, a.GetName())
	}
	queryOf := make([]string, 0, rows)
	err := from.MapOverRows(specs, func(row [][]byte, rowNo int) (bool, error) {
		for i, value := range row {
			if i == 1 {
				queryOf = append(queryOf, queryText(query, value))
				continue
			}
			v, err := number(attributes[i], value)
			if err == nil && i == 0 && v != v {
				err = fmt.Errorf("not a number")
			}
			if err != nil {
				return false, fmt.Errorf("golearn: row %d: attribute %q: %w", rowNo+1, attributes[i].GetName(), err)
			}
			if i == 0 {
				byRow.Labels = append(byRow.Labels, v)
			} else {
				byRow.Features = append(byRow.Features, v)
			}
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	if len(byRow.Labels) == 0 {
		return nil, fmt.Errorf("golearn: the grid has no rows")
	}
	return byRow.ByQueries(queryOf)
}

// queryText is a query id as text: whole numbers without a point.
func queryText(a base.Attribute, value []byte) string {
	if _, ok := a.(*base.FloatAttribute); ok {
		return strconv.FormatFloat(base.UnpackBytesToFloat(value), 'f', -1, 64)
	}
	return a.GetStringFromSysVal(value)
}

// number is a value as float32.
func number(a base.Attribute, value []byte) (float32, error) {
	if _, ok := a.(*base.BinaryAttribute); ok {
		return float32(value[0]), nil
	}
	v := base.UnpackBytesToFloat(value)
	f := float32(v)
	if math.IsInf(float64(f), 0) {
		return 0, fmt.Errorf("%g is infinite or beyond the range of float32", v)
	}
	return f, nil
}
