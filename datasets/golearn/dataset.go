package golearn

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/sjwhitworth/golearn/base"

	"github.com/plrank/plrank/datasets"
)

// Dataset makes a dataset of a grid, such as golearn's CSV and ARFF readers make. The
// options name the attributes with the label and the query id; empty,
// they are the only class attribute, and "qid". They also name those with weights and with
// groups; empty: there are none. The other attributes are features
// with ids 1, 2, … in their order, and keep their names; they must be numbers
// (FloatAttribute or BinaryAttribute). NaN is a missing value. Rows of a query
// that comes back later join it. Groups are numbered in the order of the values of a
// CategoricalAttribute, or of the rows; nothing, -1 and NaN are no group.
//
// Errors are missing or categorical attributes, infinite values or values beyond
// float32, labels that are not numbers, negative or infinite weights, several weights for
// one query, and ids that are numbers of ±2^53 or beyond, which golearn does not tell
// apart; rows count from 1 in them.
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
	r, err := newReader(from, o)
	if err != nil {
		return nil, err
	}
	specs := make([]base.AttributeSpec, len(r.columns))
	for i, c := range r.columns {
		if specs[i], err = from.GetAttribute(c.attribute); err != nil {
			return nil, fmt.Errorf("golearn: attribute %q: %w", c.attribute.GetName(), err)
		}
	}
	err = from.MapOverRows(specs, func(row [][]byte, rowNo int) (bool, error) {
		for i, value := range row {
			if err := r.columns[i].read(r.columns[i].attribute, value); err != nil {
				return false, fmt.Errorf("golearn: row %d: attribute %q: %w", rowNo+1, r.columns[i].attribute.GetName(), err)
			}
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	if len(r.rows.Labels) == 0 {
		return nil, errors.New("golearn: the grid has no rows")
	}
	d, err := r.rows.ByQueries(r.queries)
	if err != nil {
		return nil, err
	}
	if err := r.setQueryWeights(d); err != nil {
		return nil, err
	}
	return d, nil
}

// reader collects the rows of a grid.
type reader struct {
	columns []column
	rows    *datasets.Dataset // without queries
	queries []string          // [rows] ids

	queryWeights []float32 // [rows]; nil: there are none
	group        map[string]int
}

// column is an attribute, and a function that reads its values.
type column struct {
	attribute base.Attribute
	read      func(a base.Attribute, value []byte) error
}

func newReader(from base.FixedDataGrid, o GridOptions) (*reader, error) {
	_, rows := from.Size()
	r := &reader{rows: &datasets.Dataset{Name: "golearn grid", Labels: make([]float32, 0, rows)}, queries: make([]string, 0, rows)}
	roles := map[string]func(base.Attribute, []byte) error{o.LabelColumn: r.label, o.QueryColumn: r.query}
	for _, role := range []struct {
		column string
		read   func(base.Attribute, []byte) error
	}{{o.WeightColumn, r.weight}, {o.QueryWeightColumn, r.queryWeight}, {o.GroupColumn, r.groupOf}} {
		if role.column == "" {
			continue
		}
		if roles[role.column] != nil {
			return nil, fmt.Errorf("golearn: attribute %q has two roles: please choose different ones among %s", role.column, o.names())
		}
		roles[role.column] = role.read
	}
	var names []string
	found := map[string]base.Attribute{}
	for _, a := range from.AllAttributes() {
		names = append(names, a.GetName())
		_, categorical := a.(*base.CategoricalAttribute)
		if read := roles[a.GetName()]; read != nil {
			found[a.GetName()] = a
			r.columns = append(r.columns, column{a, read})
			continue
		}
		if categorical {
			return nil, fmt.Errorf("golearn: attribute %q is categorical: please convert it to numbers (filters.NewBinaryConvertFilter), or leave it out", a.GetName())
		}
		r.columns = append(r.columns, column{a, r.feature})
		r.rows.FeatureIDs = append(r.rows.FeatureIDs, len(r.rows.FeatureIDs)+1)
		r.rows.FeatureNames = append(r.rows.FeatureNames, a.GetName())
	}
	r.rows.Features = make([]float32, 0, rows*len(r.rows.FeatureIDs))
	if found[o.LabelColumn] == nil || found[o.QueryColumn] == nil {
		return nil, fmt.Errorf("golearn: no label attribute %q and query attribute %q among %s", o.LabelColumn, o.QueryColumn, strings.Join(names, ", "))
	}
	for _, name := range []string{o.WeightColumn, o.QueryWeightColumn, o.GroupColumn} {
		if name != "" && found[name] == nil {
			return nil, fmt.Errorf("golearn: no attribute %q among %s", name, strings.Join(names, ", "))
		}
	}
	for _, name := range []string{o.LabelColumn, o.WeightColumn, o.QueryWeightColumn} {
		if _, ok := found[name].(*base.FloatAttribute); name != "" && !ok {
			what := "weight"
			if name == o.LabelColumn {
				what = "label"
			}
			return nil, fmt.Errorf("golearn: %s attribute %q holds no numbers", what, name)
		}
	}
	if o.GroupColumn != "" {
		r.group, r.rows.Groups, r.rows.GroupNames = map[string]int{}, make([]int, 0, rows), []string{}
		if a, ok := found[o.GroupColumn].(*base.CategoricalAttribute); ok {
			for _, name := range a.GetValues() {
				r.groupNumber(name)
			}
		}
	}
	return r, nil
}

func (r *reader) feature(a base.Attribute, value []byte) error {
	v, err := number(a, value)
	r.rows.Features = append(r.rows.Features, v)
	return err
}

func (r *reader) label(a base.Attribute, value []byte) error {
	v, err := number(a, value)
	if err == nil && v != v {
		err = errors.New("not a number")
	}
	r.rows.Labels = append(r.rows.Labels, v)
	return err
}

func (r *reader) query(a base.Attribute, value []byte) error {
	id, err := idText(a, value)
	if err == nil && id == "NaN" {
		err = errors.New("no query id")
	}
	r.queries = append(r.queries, id)
	return err
}

func (r *reader) weight(a base.Attribute, value []byte) error {
	w, err := weight(a, value)
	r.rows.Weights = append(r.rows.Weights, w)
	return err
}

func (r *reader) queryWeight(a base.Attribute, value []byte) error {
	w, err := weight(a, value)
	r.queryWeights = append(r.queryWeights, w)
	return err
}

func (r *reader) groupOf(a base.Attribute, value []byte) error {
	name, err := idText(a, value)
	if name == "NaN" {
		name = noGroup
	}
	r.rows.Groups = append(r.rows.Groups, r.groupNumber(name))
	return err
}

// groupNumber is the number of a group, new or not; −1 for none.
func (r *reader) groupNumber(name string) int {
	if name == "" || name == noGroup {
		return -1
	}
	n, known := r.group[name]
	if !known {
		n = len(r.rows.GroupNames)
		r.group[name] = n
		r.rows.GroupNames = append(r.rows.GroupNames, name)
	}
	return n
}

// setQueryWeights sets the weights of the queries of d to those of their rows.
func (r *reader) setQueryWeights(d *datasets.Dataset) error {
	for row, w := range r.queryWeights {
		if d.SourceRows != nil {
			w = r.queryWeights[d.SourceRows[row]]
		}
		q := len(d.QueryWeights)
		if row == d.Offsets[q] {
			d.QueryWeights = append(d.QueryWeights, w)
		} else if q--; w != d.QueryWeights[q] {
			return fmt.Errorf("golearn: query %q has rows of weights %g and %g: want one weight", d.QueryIDs[q], d.QueryWeights[q], w)
		}
	}
	return nil
}

// idText is an id as text: whole numbers without a point.
func idText(a base.Attribute, value []byte) (string, error) {
	if _, ok := a.(*base.FloatAttribute); !ok {
		return a.GetStringFromSysVal(value), nil
	}
	const exact = 1 << 53
	v := base.UnpackBytesToFloat(value)
	if math.Abs(v) >= exact {
		return "", fmt.Errorf("the id %.0f is not exact in golearn: want numbers within ±2^53, or a CategoricalAttribute", v)
	}
	return strconv.FormatFloat(v, 'f', -1, 64), nil
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

func weight(a base.Attribute, value []byte) (float32, error) {
	w, err := number(a, value)
	if err == nil && !(w >= 0) {
		err = fmt.Errorf("weight %g: want a number of 0 or more", w)
	}
	return w, err
}
