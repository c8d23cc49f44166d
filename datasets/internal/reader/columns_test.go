package reader

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plrank/plrank/datasets/schema"
)

// told is the schema of columns that are told, whatever the header.
func told(c schema.Columns) func(schema.Header) (schema.Columns, error) {
	return func(schema.Header) (schema.Columns, error) { return c, nil }
}

// Roles are those of options, else of earlier data, else of the schema, else of the plain names.
func TestRolesAreTold(t *testing.T) {
	names := []string{"qid", "label", "stars", "session", "x"}
	both := schema.Columns{Roles: map[string]string{"label": "stars", "query": "session"}}
	for want, o := range map[string]Options{
		"label=label query=qid":       {},
		"label=stars query=session":   {Schema: told(both)},
		"label=stars query=session ":  {LabelColumn: "stars", Roles: map[string]string{"query": "session"}},
		"label=x query=session":       {LabelColumn: "x", Schema: told(both)},
		"label=x query=session ":      {Roles: map[string]string{"label": "x"}, Schema: told(both)},
		"label=x query=session  ":     {LabelColumn: "x", Roles: map[string]string{"label": "stars"}, Schema: told(both)},
		"label=label query=qid ":      {Roles: map[string]string{"label": "absent"}},
		"label=label query=stars":     {QueryColumn: "stars"},
		"label=label query=session\t": {Roles: map[string]string{"query": "session"}},
	} {
		c, err := NewColumns(slices.Clone(names), o, false, Look{})
		if err != nil {
			t.Errorf("%+v: %v", o, err)
		} else if got := "label=" + c.Called[c.Label] + " query=" + c.Called[c.Query]; got != strings.TrimSpace(want) {
			t.Errorf("%+v: %s, want %s", o, got, want)
		}
	}
	for want, o := range map[string]Options{
		`header: the columns are not known: no query id column "qid", found session, label`: {},
		"header: column \"label\" is the label, and cannot be the query id as well":         {Schema: told(schema.Columns{Roles: map[string]string{"query": "label", "label": "label"}})},
	} {
		if _, err := NewColumns([]string{"session", "label"}, o, false, Look{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := NewColumns([]string{"a", "b"}, Options{}, true, Look{}); !errors.Is(err, ErrColumns) {
		t.Errorf("error %v", err)
	}
	if _, err := NewColumns([]string{"label", "b"}, Options{}, true, Look{}); err != nil { // sizes stand for ids
		t.Error(err)
	}
}

// Columns aside are features only if options list them, and are numbered after all others; text keeps its number.
func TestColumnsThatTheSchemaLeavesOut(t *testing.T) {
	names := []string{"rel", "title", "label", "qid", "price"}
	s := told(schema.Columns{Roles: map[string]string{"label": "label", "query": "qid"},
		Aside: map[string]string{"rel": "aside: %s"}, Text: map[string]string{"title": "text: %s", "label": "a role is no text"}})
	for _, c := range []struct {
		o     Options
		ids   []int
		names map[int]string
		out   []Out
	}{
		{Options{}, []int{2}, map[int]string{2: "price"}, []Out{{"aside: %s", []string{"rel"}}, {"text: %s", []string{"title"}}}},
		{Options{Categorical: []string{"title"}}, []int{1, 2}, map[int]string{1: "title", 2: "price"}, []Out{{"aside: %s", []string{"rel"}}}},
		{Options{Features: []string{"rel", "price"}}, []int{2, 3}, map[int]string{2: "price", 3: "rel"}, nil},
		{Options{Ignore: []string{"rel", "title"}}, []int{2}, map[int]string{2: "price"}, nil},
		{Options{FeatureIDs: []int{7}, FeatureNames: []string{"title"}}, []int{7}, map[int]string{7: "title"}, []Out{{outUnwanted, []string{"price"}}, {"aside: %s", []string{"rel"}}}},
	} {
		c.o.Schema = s
		got, err := NewColumns(slices.Clone(names), c.o, false, Look{})
		if err != nil {
			t.Errorf("%+v: %v", c.o, err)
		} else if !slices.Equal(slices.Sorted(slices.Values(got.IDs)), c.ids) || !reflect.DeepEqual(got.Names, c.names) || !reflect.DeepEqual(got.Out, c.out) {
			t.Errorf("%v: ids %v, names %v, out %v", c.o.Features, got.IDs, got.Names, got.Out)
		}
	}
}

// A field reads back whatever it has in it, quoted or not.
func TestFieldsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var line string
		fields := rapid.SliceOfN(rapid.StringMatching(`[ab",; ]{0,4}`), 1, 5).Draw(t, "fields")
		for i, f := range fields {
			if i > 0 {
				line += ","
			}
			if strings.ContainsAny(f, `",`) || rapid.Bool().Draw(t, "quoted") {
				f = `"` + strings.ReplaceAll(f, `"`, `""`) + `"`
			}
			line += f
		}
		var got []string
		for i := 0; i <= len(line); {
			f, next, err := field([]byte(line), i, ',')
			if err != nil {
				t.Fatal(err)
			}
			got, i = append(got, string(f)), next
		}
		if !slices.Equal(got, fields) {
			t.Fatalf("%q: %q, want %q", line, got, fields)
		}
	})
}

// The kind of a column is that of most of its values.
func TestKindIsThatOfMostValues(t *testing.T) {
	for values, want := range map[string]string{
		"1 2 x": schema.Number, "1 x": schema.Number, "1 x y": schema.Text, "NA NA x": schema.Text, "NA": schema.Number,
		"1,5 2,5": schema.DecimalCommas, "1,5 x y": schema.Text, "1,5 2,5 x": schema.DecimalCommas,
	} {
		var k Kinds
		for value := range strings.FieldsSeq(values) {
			k.Add([]byte(value))
		}
		if got := k.Kind(); got != want {
			t.Errorf("%s: %s, want %s", values, got, want)
		}
	}
}
