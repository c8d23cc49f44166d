package columns_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/columns"
	"github.com/plrank/plrank/datasets"
	_ "github.com/plrank/plrank/datasets/parquet"
	"github.com/plrank/plrank/datasets/schema"
)

// read reads a file as the programs do.
func read(path string, o datasets.ReadOptions) (*datasets.Dataset, error) {
	o.Schema = columns.Find
	return datasets.ReadFile(path, o)
}

// open opens a collection as the programs do.
func open(path string, o datasets.Options) (*datasets.Splits, error) {
	o.Read.Schema = columns.Find
	return datasets.Open(path, o)
}

// writeFiles writes files into a folder.
func writeFiles(t *testing.T, files map[string]string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// dataFile writes a file.
func dataFile(t *testing.T, name, text string) string {
	t.Helper()
	return filepath.Join(writeFiles(t, map[string]string{name: text}), name)
}

// A column that may be a feature by its name is the label only if an option says so.
func TestLabelIsNotGuessedFromRating(t *testing.T) {
	for _, name := range []string{"rating", "grade", "target", "y", "score"} {
		path := dataFile(t, "f.csv", "query,"+name+",price\na,3,1.5\na,4,2.5\n")
		want := "no label column: looked for label, relevance, rel, labels, judgment, judgement, found query, " + name + ", price (-label-column NAME names it)"
		if _, err := read(path, datasets.ReadOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
		if d, err := read(path, datasets.ReadOptions{LabelColumn: name}); err != nil || d.Labels[0] != 3 || d.Roles["label"] != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Ids, too, are found by shared names only where no other column could be meant.
func TestIdsAreNotGuessedBesideOthers(t *testing.T) {
	for header, want := range map[string]string{
		"label,query,group,x":        "the query id is not known: it could be query, group (-query-column NAME says which)",
		"label,query,session_id,x":   "the query id is not known: it could be query, session_id (-query-column NAME says which)",
		"label,qid,doc,document":     "the document id is not known: it could be doc, document (-document-column NAME says which)",
		"label,qid,doc,product_id":   "the document id is not known: it could be doc, product_id (",
		"label,session,x,y2":         "no query id column: looked for qid, queryid, query, found label, session, x, y2 (-query-column NAME names it)",
		"label,query,x,z":            "",
		"label,QID,group,session_id": "",
		"label,Query ID,x,doc":       "",
	} {
		d, err := read(dataFile(t, "f.csv", header+"\n1,2,3,4\n0,2,5,6\n"), datasets.ReadOptions{})
		if want == "" && (err != nil || d.QueryIDs[0] != "2") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", header, err, want)
		}
	}
	d, err := read(dataFile(t, "f.csv", "label,query,group,x\n1,2,3,4\n"), datasets.ReadOptions{GroupColumn: "group"})
	if err != nil || !maps.Equal(d.Roles, map[string]string{"label": "label", "query": "query", "group": "group"}) {
		t.Errorf("%v, error %v", d, err)
	}
}

// A second column with a usual name is not a feature, unless the options list it by all of its name.
func TestSecondUsualNameIsNoFeature(t *testing.T) {
	for header, c := range map[string]struct {
		o        datasets.ReadOptions
		label    float32
		features []string
		left     []string // at the ends of warnings
	}{
		"query,label,relevance,a":  {datasets.ReadOptions{}, 1, []string{"a"}, []string{"the label, which label is (-label-column NAME takes another, and -features '*,relevance' makes a feature of one), were left out: relevance"}},
		"query,Label,label,a":      {datasets.ReadOptions{}, 2, []string{"a"}, []string{"were left out: Label"}},
		"qid,query_id,label,a":     {datasets.ReadOptions{}, 2, []string{"a"}, []string{"the query id, which qid is (-query-column NAME takes another, and -features '*,query_id' makes a feature of one), were left out: query_id"}},
		"qid,docid,label,doc_id":   {datasets.ReadOptions{}, 2, []string{}, []string{"were left out: doc_id"}},
		"qid,Relevance,label,Rel":  {datasets.ReadOptions{}, 2, []string{}, []string{"were left out: Relevance, Rel"}},
		"qid,label,clicks,a":       {datasets.ReadOptions{LabelColumn: "clicks"}, 2, []string{"a"}, []string{"the label, which clicks is (-label-column NAME takes another, and -features '*,label' makes a feature of one), were left out: label"}},
		"qid,label,rel,a":          {datasets.ReadOptions{Features: []string{"*", "rel"}}, 1, []string{"rel", "a"}, nil},
		"qid,label,rel,b":          {datasets.ReadOptions{Ignore: []string{"rel"}}, 1, []string{"b"}, nil},
		"qid,label,rating,a":       {datasets.ReadOptions{}, 1, []string{"rating", "a"}, nil},
		"qid,label,group,a":        {datasets.ReadOptions{}, 1, []string{"group", "a"}, nil},
		"qid,label,relevance,a\n ": {datasets.ReadOptions{LabelColumn: "relevance"}, 2, []string{"a"}, []string{"were left out: label"}},
	} {
		text := header + "\n7,1,2,3\n7,0,1,5\n"
		d, err := read(dataFile(t, "f.csv", text), c.o)
		if err != nil {
			t.Errorf("%s: %v", header, err)
			continue
		}
		told := len(d.Warnings) == len(c.left)
		for i := range min(len(d.Warnings), len(c.left)) {
			told = told && strings.HasSuffix(d.Warnings[i], c.left[i])
		}
		if d.Labels[0] != c.label || !slices.Equal(d.FeatureNames, c.features) && len(c.features)+len(d.FeatureNames) > 0 || !told {
			t.Errorf("%s: label %v, features %q, warnings %q", header, d.Labels[0], d.FeatureNames, d.Warnings)
		}
		for range 2 { // read, and from the cache; the second file says nothing
			s, err := open(writeFiles(t, map[string]string{"train.csv": text, "vali.csv": text}), datasets.Options{Read: c.o, Cache: t.TempDir()})
			if err != nil || len(s.Warnings()) != len(c.left) || !maps.Equal(s.Train.Roles, d.Roles) {
				t.Errorf("%s: splits with %q, error %v", header, s.Warnings(), err)
			}
		}
	}
}

// Columns of earlier data have their roles again; options name others.
func TestKnownColumnsHaveTheirRoles(t *testing.T) {
	const header = "query text,rating,clicks,sku,w,b,g,label,x\n"
	text := header + "red,5,1,s1,2,.5,u,0,7\nred,4,0,s2,3,.25,v,1,8\n"
	roles := map[string]string{"label": "clicks", "query": "query text", "document": "sku", "weight": "w", "base": "b", "group": "g"}
	o := datasets.ReadOptions{FeatureIDs: []int{1}, FeatureNames: []string{"x"}, Roles: roles}
	d, err := read(dataFile(t, "f.csv", text), o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Labels, []float32{1, 0}) || d.QueryIDs[0] != "red" || d.DocumentIDs[1] != "s2" || d.Weights[0] != 2 || d.BaseScores[1] != .25 || d.GroupNames[1] != "v" || !maps.Equal(d.Roles, roles) {
		t.Errorf("%+v", d)
	}
	o.LabelColumn, o.QueryColumn = "rating", "g"
	if d, err = read(dataFile(t, "f.csv", text), o); err != nil || d.Labels[0] != 5 || d.QueryIDs[0] != "u" || d.Groups != nil {
		t.Errorf("%+v, %v", d, err)
	}
	// A table that lacks some: a label that is needed gives an error that names it, unless the name is usual.
	o = datasets.ReadOptions{FeatureIDs: []int{1}, FeatureNames: []string{"x"}, Roles: roles}
	lacks := dataFile(t, "f.csv", "qid,rating,label,x\na,3,1,7\n")
	if _, err := open(lacks, datasets.Options{Read: o, Vali: lacks}); err == nil || !strings.Contains(err.Error(), `no label column "clicks", which the training data had: -label-column names another one of qid, rating, label, x`) {
		t.Errorf("error %v", err)
	}
	for _, text := range []string{"qid,x\na,7\n", "a\tqid\tx\n2\ta\t7\n"} {
		if d, err := read(dataFile(t, "f.csv", text), o); err != nil || d.Labels[0] != datasets.Unlabelled || d.Features[0] != 7 {
			t.Errorf("to be scored: %v, %v", d, err)
		}
	}
	o.Roles = map[string]string{"label": "relevance", "query": "query_id"}
	if s, err := open(lacks, datasets.Options{Read: o, Vali: lacks}); err != nil || s.Train.Labels[0] != 1 {
		t.Errorf("another usual name: %v, %v", s, err)
	}
	// By number without a header.
	o.Roles = map[string]string{"label": "3", "query": "2"}
	o.FeatureNames, o.Headerless = []string{"1"}, true
	if d, err := read(dataFile(t, "f.csv", "7,a,2\n"), o); err != nil || d.Labels[0] != 2 || d.QueryIDs[0] != "a" {
		t.Errorf("without a header: %v, %v", d, err)
	}
}

// Where no label is used, none is looked for, and what may be one is not a feature.
func TestUnusedLabelIsNoFeature(t *testing.T) {
	for header, c := range map[string]struct {
		o        datasets.ReadOptions
		features []string
		left     string
	}{
		"qid,label,rating,x":         {datasets.ReadOptions{}, []string{"x"}, "which no column is (-label-column NAME takes one, and -features '*,label' makes a feature of one), were left out: label, rating"},
		"qid,rating,purchased,x":     {datasets.ReadOptions{}, []string{"purchased", "x"}, "were left out: rating"},
		"qid,rating,purchased,z":     {datasets.ReadOptions{LabelColumn: "purchased"}, []string{"rating", "z"}, ""},
		"qid,rating,purchase,z":      {datasets.ReadOptions{LabelColumn: "purchased"}, []string{"purchase", "z"}, "were left out: rating"},
		"qid,rating,purchased,x\n\n": {datasets.ReadOptions{Features: []string{"rating", "x"}}, []string{"rating", "x"}, ""},
	} {
		c.o.Labels = "unused"
		d, err := read(dataFile(t, "f.csv", header+"\n7,,2,3\n7,.5,1,5\n"), c.o)
		if err != nil || !slices.Equal(d.FeatureNames, c.features) || slices.Max(d.Labels) != datasets.Unlabelled || len(d.Warnings) > 1 || strings.Join(d.Warnings, "") == "" != (c.left == "") || !strings.HasSuffix(strings.Join(d.Warnings, ""), c.left) {
			t.Errorf("%s: %v, %v", header, d, err)
		}
	}
	s, err := open(dataFile(t, "f.csv", "qid,label,x\n1,1,2\n2,,3\n"), datasets.Options{FeaturesOnly: true})
	if err != nil || s.Vali != nil || s.Train.Rows() != 2 {
		t.Errorf("%v, %v", s, err)
	}
	folder := writeFiles(t, map[string]string{"train.csv": "qid,stars,x\n1,1,2\n2,,3\n", "vali.csv": "qid,stars,x,label\n1,2,2,1\n"})
	if s, err := open(folder, datasets.Options{FeaturesOnly: true, Cache: t.TempDir()}); err != nil || s.Train.Rows() != 2 || s.Vali.Labels[0] != 1 || !slices.Equal(s.Vali.FeatureNames, []string{"stars", "x"}) {
		t.Errorf("labels for validation: %v, %v", s, err)
	}
	if _, err := read("f", datasets.ReadOptions{Labels: "some"}); err == nil || !strings.Contains(err.Error(), `invalid ReadOptions.Labels "some"`) {
		t.Error(err)
	}
}

// Files of a collection may have labels by several usual names; a description lists them, also from a cache.
func TestLabelColumnsAreListed(t *testing.T) {
	folder := writeFiles(t, map[string]string{"train.1.csv": "qid,Label,x\n1,1,.2\n", "train.2.csv": "qid,rel,x\n2,1,2\n", "vali.csv": "qid,Label,x\n1,1,2\n", "test.csv": "qid,label,x\n1,1,2\n"})
	o := datasets.Options{Cache: t.TempDir()}
	for range 2 {
		s, err := open(folder, o)
		if err != nil {
			t.Fatal(err)
		}
		d := datasets.Describe("", s.Train, s.Vali, s.Test)
		if want := "label column                  Label, rel, label\n"; !strings.Contains(d.String(), want) || s.Warnings() != nil {
			t.Errorf("warnings %q, no %q in\n%s", s.Warnings(), want, d)
		}
	}
}

// A column is looked at only if it may be a feature.
func TestOtherColumnsAreNotLookedAt(t *testing.T) {
	names := []string{"label", "qid", "a", "b", "c"}
	for want, o := range map[string]schema.Header{
		"a b c": {}, "b": {Features: []string{"b"}}, "a c ": {Ignore: []string{"b"}}, "a b c ": {Features: []string{"1"}},
		"a b": {Categorical: []string{"c*"}}, "c": {Unasked: []string{"a", "b"}}, "": {OfFeatures: true},
	} {
		var looked []string
		o.Names, o.Needed = names, []string{"label", "query"}
		o.Kind = func(column int) (string, error) {
			looked = append(looked, names[column])
			return schema.Text, nil
		}
		if c, err := columns.Find(o); err != nil || strings.Join(looked, " ") != strings.TrimSpace(want) || len(c.Text) != len(looked) {
			t.Errorf("looked at %q, want %s: %v, error %v", looked, want, c.Text, err)
		}
	}
}

// Columns of text are left out without a header, too, by all rows.
func TestColumnsOfTextAreLeftOutWithoutAHeader(t *testing.T) {
	for text, want := range map[string]string{"1,a,lamp,2\n": "3", "1,a,5,2\n0,a,lamp,2\n0,a,sofa,2\n": "3", "1,a,5,2\n0,a,6,2\n": ""} {
		d, err := read(dataFile(t, "f.csv", text), datasets.ReadOptions{Headerless: true, QueryColumn: "2"})
		if err != nil || strings.Join(d.LeftOut, " ") != want || len(d.FeatureNames)+len(d.LeftOut) != 2 {
			t.Errorf("%q: %v, error %v", text, d, err)
		}
	}
}
