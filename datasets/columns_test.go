package datasets

import (
	"reflect"
	"slices"
	"testing"

	"github.com/plrank/plrank/transforms"
)

// setAll sets every optional list of d to values that differ from row to row.
func setAll(d *Dataset) {
	d.Vectors = Vectors{Names: []string{"v"}, Dimensions: []int{1}, Values: make([]float32, 100)}
	for _, c := range columns {
		list := reflect.ValueOf(c.list(d)).Elem()
		n := d.Rows()
		if reflect.ValueOf(c).Elem().FieldByName("perQuery").Bool() {
			n = d.Queries()
		}
		list.Set(reflect.MakeSlice(list.Type(), n, n))
		for i := range n {
			if v := list.Index(i); v.Kind() == reflect.String {
				v.SetString(string(rune('a' + i)))
			} else {
				v.Set(reflect.ValueOf(i + 1).Convert(v.Type()))
			}
		}
	}
}

// fieldsOf returns the slice fields of a struct, except those named.
func fieldsOf(pointer any, but ...string) map[string]reflect.Value {
	fields, v := map[string]reflect.Value{}, reflect.ValueOf(pointer).Elem()
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && f.Type.Kind() == reflect.Slice && !slices.Contains(but, f.Name) {
			fields[f.Name] = v.Field(i)
		}
	}
	return fields
}

// A field of Dataset with a value for each row or query is in the list of columns, and so it is selected, viewed, kept by
// caches and part of the fingerprint; one of Batch is packed.
func TestEveryListOfADatasetIsAColumn(t *testing.T) {
	d, err := ReadFile(dataFile(t, "f.txt", "1 qid:x 1:5\n0 qid:x 1:6\n2 qid:y 1:7\n1 qid:z 1:8\n"), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	setAll(d)
	if err := d.Validate(); err != nil {
		t.Fatal(err)
	}
	lists := fieldsOf(d, "Features", "Offsets", "FeatureIDs", "FeatureNames", "Levels", "NumberLevels", "LeftOut", "GroupNames", "Warnings",
		"Products")
	if len(lists) != len(columns)-1 { // lines are not exported
		t.Errorf("%d lists, but %d columns", len(lists), len(columns))
	}
	selected, view := fieldsOf(d.Select([]int{2, 0})), fieldsOf(d.view(1, 3))
	for name, list := range lists {
		perQuery := list.Len() == d.Queries()
		pick := func(i, query int) any {
			if perQuery {
				return list.Index(query).Interface()
			}
			return list.Index(i).Interface()
		}
		if got := selected[name].Index(0).Interface(); got != pick(3, 2) {
			t.Errorf("Select: %s begins with %v, want %v", name, got, pick(3, 2))
		}
		if got := view[name].Index(0).Interface(); got != pick(2, 1) {
			t.Errorf("view: %s begins with %v, want %v", name, got, pick(2, 1))
		}
	}
	var b Batch
	b.Pack(d, &transforms.Transform{Inputs: 1}, []int{1}, 8, 4)
	for name, list := range fieldsOf(&b, "X", "Offsets") {
		from, want, n := lists[name], 2, 8
		if from.Len() == d.Queries() {
			want, n = 1, 4
		}
		if list.Len() != n || list.Index(0).Interface() != from.Index(want).Interface() {
			t.Errorf("Pack: %s is %v, want %v first", name, list, from.Index(want))
		}
	}
	before := d.Fingerprint()
	for _, name := range []string{"Labels", "QueryIDs", "Groups", "Intents", "Weights", "QueryWeights", "BaseScores", "Gains", "Logged", "LoggedScores"} {
		lists[name].Index(0).Set(lists[name].Index(1))
		if after := d.Fingerprint(); after == before {
			t.Errorf("%s do not count for the fingerprint", name)
		}
		before = d.Fingerprint()
	}
}
