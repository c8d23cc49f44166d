package datasets

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestDescribeCountsAllDatasetsAsOne(t *testing.T) {
	d, err := ReadFile(file(t, "f", "0 qid:1 1:5 2:1 4:nan\n2 qid:1 1:5 2:2 4:nan\n-1 qid:2 1:5 3:?\n0 qid:2 1:5\n0 qid:2 1:5\n1.5 qid:3 1:5 4:null\n"), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(Describe("f", newDataset(d.data().View(0, 1)), nil, newDataset(d.data().View(1, 3))))
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	// Feature 3 is 0 or missing, feature 4 likewise: they tell documents apart.
	if err := json.Unmarshal([]byte(`{"name":"f","queries":3,"documents":6,"features":4,"labels":{"0":3,"2":1,"-1":1,"1.5":1},"labelFree":1,
		"documentsPerQuery":{"min":1,"mean":2,"max":3},"constant":[1],"missing":[3,4],"missingValues":4}`), &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s", text)
	}
	table := Describe("f", d).String()
	for _, want := range []string{"queries                       3\n", "1: 1\n", "2: 3, 4\n", "unlabelled (-1)               1 (16.7 %)\n", "1 to 3, mean 2.0"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if empty := Describe("nothing"); empty.Documents != 0 || empty.String() == "" {
		t.Error("nothing is described wrongly")
	}
}

// The facts of shared/data/README.md.
func TestDescribeGivesThePublishedCounts(t *testing.T) {
	s, err := Open(shared(t, "MQ2008"), Options{Fold: 4})
	if err != nil {
		t.Fatal(err)
	}
	d := Describe("MQ2008", s.Train, s.Vali, s.Test)
	if d.Queries != 784 || d.Documents != 15211 || d.Features != 46 || d.LabelFree != 220 ||
		!reflect.DeepEqual(d.Constant, []int{6, 7, 8, 9, 10, 43}) || d.DocumentsPerQuery.Min != 5 || d.DocumentsPerQuery.Max != 121 || len(d.Warnings) != 0 {
		t.Errorf("MQ2008:\n%s\nwarnings %q", d, d.Warnings)
	}
	if s, err = Open(shared(t, "MSLR-sample"), Options{}); err != nil {
		t.Fatal(err)
	}
	d = Describe("MSLR-sample", s.Train, s.Vali, s.Test)
	if d.Queries != 89 || d.Documents != 9122 || d.Features != 136 || d.DocumentsPerQuery.Min != 15 || d.DocumentsPerQuery.Max != 337 {
		t.Errorf("MSLR-sample:\n%s", d)
	}
	if s, err = Open(shared(t, "lightgbm-lambdarank"), Options{}); err != nil {
		t.Fatal(err)
	}
	d = Describe("lightgbm-lambdarank", s.Train, s.Vali, s.Test)
	if d.Queries != 251 || d.Documents != 3773 || d.DocumentsPerQuery.Min != 1 || d.DocumentsPerQuery.Max != 27 {
		t.Errorf("lightgbm-lambdarank:\n%s", d)
	}
}

func TestDescribeCountsAbsentWeightsAsOne(t *testing.T) {
	d := weighted()
	light := weighted().Select([]int{0})
	light.Weights, light.QueryWeights = nil, nil
	is := Describe("", d, nil, light)
	if want := (Range{0, 4.5 / 5, 2}); is.Weights == nil || *is.Weights != want {
		t.Errorf("%+v, want %+v", is.Weights, want)
	}
	if want := (Range{.25, 5.25 / 4, 3}); is.QueryWeights == nil || *is.QueryWeights != want {
		t.Errorf("%+v, want %+v", is.QueryWeights, want)
	}
	if text := is.String(); !strings.Contains(text, "weights of documents          0 to 2, mean 0.9\n") || !strings.Contains(text, "weights of queries            0.25 to 3, mean 1.31\n") {
		t.Error(text)
	}
	if is := Describe("", light); is.Weights != nil || is.QueryWeights != nil || strings.Contains(is.String(), "weights") {
		t.Errorf("%+v", is)
	}
}
