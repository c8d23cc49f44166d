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
// float32, labels that are NaN or negative other than −1, negative or infinite weights,
// and ids that are numbers of ±2^53 or beyond, which golearn does not
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
	d := &datasets.Dataset{Name: "golearn grid", Offsets: []int{0}} // each row as a query
	groups := &reader.GroupNames{}
	roles := map[string]valueReader{} // by column
	for _, role := range []struct {
		column string
		read   valueReader
	}{
		{o.LabelColumn, collect(&d.Labels, label)},
		{o.QueryColumn, collect(&d.QueryIDs, queryID)},
		{o.WeightColumn, collect(&d.Weights, weight)},
		{o.GroupColumn, collect(&d.Groups, func(a base.Attribute, value []byte) (int, error) {
			name, err := idText(a, value)
			return groups.Number([]byte(name)), err
		})},
	} {
		switch {
		case role.column == "":
		case base.GetAttributeByName(from, role.column) == nil:
			return nil, fmt.Errorf("golearn: no attribute %q among %s", role.column, strings.Join(names(from), ", "))
		case roles[role.column] != nil:
			return nil, fmt.Errorf("golearn: attribute %q has two roles: please choose different ones among %s", role.column,
				strings.Join(names(from), ", "))
		default:
			roles[role.column] = role.read
		}
	}
	if o.GroupColumn != "" {
		groups.Names = []string{} // even if no document has a group
		if a, ok := base.GetAttributeByName(from, o.GroupColumn).(*base.CategoricalAttribute); ok {
			for _, name := range a.GetValues() {
				groups.Number([]byte(name))
			}
		}
	}
	if err := read(d, from, roles); err != nil {
		return nil, err
	}
	d.GroupNames = groups.Names
	return d.ByQueries(), d.Validate()
}

// names lists the names of all attributes.
func names(grid base.FixedDataGrid) (list []string) {
	for _, a := range grid.AllAttributes() {
		list = append(list, a.GetName())
	}
	return list
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

// read reads all rows of a grid. Attributes without a role are features.
func read(d *datasets.Dataset, from base.FixedDataGrid, roles map[string]valueReader) error {
	attributes := from.AllAttributes()
	specs, readers := make([]base.AttributeSpec, len(attributes)), make([]valueReader, len(attributes))
	for i, a := range attributes {
		if readers[i] = roles[a.GetName()]; readers[i] == nil {
			readers[i] = collect(&d.Features, number)
			d.FeatureIDs, d.FeatureNames = append(d.FeatureIDs, len(d.FeatureIDs)+1), append(d.FeatureNames, a.GetName())
		}
		var err error
		if specs[i], err = from.GetAttribute(a); err != nil {
			return fmt.Errorf("golearn: attribute %q: %w", a.GetName(), err)
		}
	}
	_, rows := from.Size()
	d.Features = make([]float32, 0, rows*d.Width())
	err := from.MapOverRows(specs, func(row [][]byte, rowNo int) (bool, error) {
		for i, value := range row {
			if err := readers[i](attributes[i], value); err != nil {
				return false, fmt.Errorf("golearn: row %d: attribute %q: %w", rowNo+1, attributes[i].GetName(), err)
			}
		}
		d.Offsets = append(d.Offsets, rowNo+1)
		return true, nil
	})
	if err == nil && d.Rows() == 0 {
		err = errors.New("golearn: the grid has no rows")
	}
	return err
}

func queryID(a base.Attribute, value []byte) (string, error) {
	id, err := idText(a, value)
	if err == nil && id == "" {
		err = errors.New("no query id")
	}
	return id, err
}

// idText is an id as text: whole numbers without a point, and none for NaN, or if golearn read a column of empty cells.
func idText(a base.Attribute, value []byte) (string, error) {
	if texts, ok := a.(*base.CategoricalAttribute); ok && base.UnpackBytesToU64(value) >= uint64(len(texts.GetValues())) {
		return "", nil
	}
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
	switch a.(type) {
	case *base.BinaryAttribute:
		return float32(value[0]), nil
	case *base.CategoricalAttribute:
		return 0, errors.New("it is categorical: please convert it to numbers (filters.NewFloatConvertFilter), or leave it out")
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
