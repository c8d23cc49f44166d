package golearn

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/sjwhitworth/golearn/base"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/datasets/internal/reader"
)

// Dataset makes a dataset of a grid, such as golearn's CSV and ARFF readers make. The options
// name the attributes with the label and the query id; empty, they are the only class
// attribute, and "qid". They also name those with weights and with groups; empty: there are
// none. The other attributes are features with ids 1, 2, … in their order, and keep their
// names; they must be numbers (FloatAttribute or BinaryAttribute). NaN is a missing value. Rows
// of a query that comes back later join it. Groups are numbered in the order of the values of a
// CategoricalAttribute, or of the rows; an empty text, -1 and the number NaN are no group.
//
// golearn's CSV reader turns an empty cell into 0, or the first value of a CategoricalAttribute. Write NaN for a missing number,
// or read the file by datasets.ReadFile, for which an empty cell is missing.
//
// Dataset returns an error for missing or categorical attributes, infinite values or values beyond
// float32, labels that are NaN or negative other than −1, negative or infinite weights, several weights for
// one query, and ids that are numbers of ±2^53 or beyond, which golearn does not
// distinguish. Rows count from 1 in errors.
func Dataset(from base.FixedDataGrid, o GridOptions) (*datasets.Dataset, error) {
	o.QueryColumn = cmp.Or(o.QueryColumn, "qid")
	if o.LabelColumn == "" {
		classes := from.AllClassAttributes()
		if len(classes) != 1 {
			return nil, fmt.Errorf("golearn: %d class attributes: please name the label column", len(classes))
		}
		o.LabelColumn = classes[0].GetName()
	}
	r := &gridReader{rows: &datasets.Dataset{Name: "golearn grid", Offsets: []int{0}}}
	roles, err := r.findRoles(from, o)
	if err != nil {
		return nil, err
	}
	if err := r.findFeatures(from, roles); err != nil {
		return nil, err
	}
	if err := r.read(from); err != nil {
		return nil, err
	}
	if r.rows.Rows() == 0 {
		return nil, errors.New("golearn: the grid has no rows")
	}
	return r.rows.ByQueries(r.rows.QueryIDs)
}

// gridReader collects the rows of a grid, each as a query with its own weight.
type gridReader struct {
	attributes []base.Attribute
	specs      []base.AttributeSpec
	readers    []valueReader // by attribute
	rows       *datasets.Dataset
	groups     reader.GroupNames
}

// valueReader reads the value of a row.
type valueReader func(a base.Attribute, value []byte) error

// collect appends what parse makes of each value.
func collect[T any](to *[]T, parse func(a base.Attribute, value []byte) (T, error)) valueReader {
	return func(a base.Attribute, value []byte) error {
		v, err := parse(a, value)
		*to = append(*to, v)
		return err
	}
}

// findRoles gives a reader to each column that the options name.
func (r *gridReader) findRoles(from base.FixedDataGrid, o GridOptions) (roles map[string]valueReader, err error) {
	found := map[string]base.Attribute{}
	var names []string
	for _, a := range from.AllAttributes() {
		found[a.GetName()] = a
		names = append(names, a.GetName())
	}
	if found[o.LabelColumn] == nil || found[o.QueryColumn] == nil {
		return nil, fmt.Errorf("golearn: no label attribute %q and query attribute %q among %s", o.LabelColumn, o.QueryColumn,
			strings.Join(names, ", "))
	}
	roles = map[string]valueReader{}
	for _, role := range []struct {
		column string
		number string // what it must be a number of; empty: it may be text
		read   valueReader
	}{
		{o.LabelColumn, "label", collect(&r.rows.Labels, label)},
		{o.QueryColumn, "", collect(&r.rows.QueryIDs, queryID)},
		{o.WeightColumn, "weight", collect(&r.rows.Weights, weight)},
		{o.QueryWeightColumn, "weight", collect(&r.rows.QueryWeights, weight)},
		{o.GroupColumn, "", collect(&r.rows.Groups, r.group)},
	} {
		if role.column == "" {
			continue
		}
		a := found[role.column]
		_, isNumber := a.(*base.FloatAttribute)
		switch {
		case roles[role.column] != nil:
			return nil, fmt.Errorf("golearn: attribute %q has two roles: please choose different ones among %s", role.column, o.names())
		case a == nil:
			return nil, fmt.Errorf("golearn: no attribute %q among %s", role.column, strings.Join(names, ", "))
		case role.number != "" && !isNumber:
			return nil, fmt.Errorf("golearn: %s attribute %q holds no numbers", role.number, role.column)
		}
		roles[role.column] = role.read
	}
	if o.GroupColumn != "" {
		r.groups.Names = []string{} // even if no document has a group
		if a, ok := found[o.GroupColumn].(*base.CategoricalAttribute); ok {
			for _, name := range a.GetValues() {
				r.groups.Number([]byte(name))
			}
		}
	}
	return roles, nil
}

// findFeatures gives every attribute the reader of its role, or of a feature.
func (r *gridReader) findFeatures(from base.FixedDataGrid, roles map[string]valueReader) error {
	d := r.rows
	for _, a := range from.AllAttributes() {
		read := roles[a.GetName()]
		if read == nil {
			if _, categorical := a.(*base.CategoricalAttribute); categorical {
				return fmt.Errorf("golearn: attribute %q is categorical: please convert it to numbers (filters.NewBinaryConvertFilter), or leave "+
					"it out", a.GetName())
			}
			read = collect(&d.Features, number)
			d.FeatureIDs = append(d.FeatureIDs, len(d.FeatureIDs)+1)
			d.FeatureNames = append(d.FeatureNames, a.GetName())
		}
		spec, err := from.GetAttribute(a)
		if err != nil {
			return fmt.Errorf("golearn: attribute %q: %w", a.GetName(), err)
		}
		r.attributes, r.specs, r.readers = append(r.attributes, a), append(r.specs, spec), append(r.readers, read)
	}
	_, rows := from.Size()
	d.Features = make([]float32, 0, rows*d.Width())
	return nil
}

func (r *gridReader) read(from base.FixedDataGrid) error {
	err := from.MapOverRows(r.specs, func(row [][]byte, rowNo int) (bool, error) {
		for i, value := range row {
			if err := r.readers[i](r.attributes[i], value); err != nil {
				return false, fmt.Errorf("golearn: row %d: attribute %q: %w", rowNo+1, r.attributes[i].GetName(), err)
			}
		}
		r.rows.Offsets = append(r.rows.Offsets, rowNo+1)
		return true, nil
	})
	r.rows.GroupNames = r.groups.Names
	return err
}

// group is the number of a group, new or not; −1 for none.
func (r *gridReader) group(a base.Attribute, value []byte) (int, error) {
	name, err := idText(a, value)
	return r.groups.Number([]byte(name)), err
}

func queryID(a base.Attribute, value []byte) (string, error) {
	id, err := idText(a, value)
	if err == nil && id == "" {
		err = errors.New("no query id")
	}
	return id, err
}

// idText is an id as text: whole numbers without a point, and none for NaN.
func idText(a base.Attribute, value []byte) (string, error) {
	if _, ok := a.(*base.FloatAttribute); !ok {
		return a.GetStringFromSysVal(value), nil
	}
	const exact = 1 << 53
	v := base.UnpackBytesToFloat(value)
	if v != v {
		return "", nil
	}
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

func label(a base.Attribute, value []byte) (float32, error) {
	v, err := number(a, value)
	if err == nil && !reader.IsGrade(v) {
		err = fmt.Errorf("label %g: want %s", v, reader.WantGrade)
	}
	return v, err
}

func weight(a base.Attribute, value []byte) (float32, error) {
	w, err := number(a, value)
	if err == nil && !(w >= 0) {
		err = fmt.Errorf("weight %g: want a number of 0 or more", w)
	}
	return w, err
}
