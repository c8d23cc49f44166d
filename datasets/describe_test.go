package datasets

import (
	"encoding/json"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestDescribeCountsAllDatasetsAsOne(t *testing.T) {
	d, err := ReadFile(dataFile(t, "f", "0 qid:1 1:5 2:1 4:nan\n2 qid:1 1:5 2:2 4:nan\n-1 qid:2 1:5 3:?\n0 qid:2 1:5\n0 qid:2 1:5\n1.5 qid:3 1:5 4:null\n"), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	described := Describe("f", d.view(0, 1), nil, d.view(1, 3))
	if want := []FeatureDescription{
		{ID: 1, Name: "1", Type: "number", Distinct: 1, Min: 5, Max: 5, Use: "constant: left out"},
		{ID: 2, Name: "2", Type: "number", Distinct: 3, Max: 2, Use: "feature"},
		{ID: 3, Name: "3", Type: "number", Missing: 1, Distinct: 1, Use: "feature"},
		{ID: 4, Name: "4", Type: "number", Missing: 3, Distinct: 1, Use: "query feature"},
	}; !reflect.DeepEqual(described.FeatureList, want) {
		t.Errorf("features %+v", described.FeatureList)
	}
	described.FeatureList = nil
	text, err := json.Marshal(described)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	// Feature 3 is 0 or missing, which tells documents apart; feature 4 likewise, but alike in all documents of a query.
	if err := json.Unmarshal([]byte(`{"name":"f","queries":3,"documents":6,"features":4,"labels":{"0":3,"2":1,"-1":1,"1.5":1},"labelFree":1,
		"documentsPerQuery":{"min":1,"mean":2,"max":3},"constant":[1],"constantInQueries":[4],"missing":[3,4],"missingValues":4,"featureList":null}`), &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s", text)
	}
	table := Describe("f", d).String()
	for _, want := range []string{"queries                       3\n", "1: 1\n", "query features                1: 4\n", "2: 3, 4\n", "unlabelled (-1)               1 (16.7 %)\n", "1 to 3, mean 2.0"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if empty := Describe("nothing"); empty.Documents != 0 || empty.String() == "" {
		t.Error("nothing is described wrongly")
	}
}

func TestDescribeGivesThePublishedCounts(t *testing.T) {
	for _, c := range []struct {
		collection
		queries, rows int
	}{{mq2008, 784, 15211}, {mslrSample, 89, 9122}, {lightGBM, 251, 3773}} {
		s, err := Open(c.write(t), Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := Describe(c.folder, s.Train, s.Vali, s.Test)
		if d.Queries != c.queries || d.Documents != c.rows || d.Features != c.width || d.LabelFree != c.free || !slices.Equal(d.Constant, c.constant) ||
			d.DocumentsPerQuery.Min != float64(c.least) || d.DocumentsPerQuery.Max != float64(c.most) || len(d.Warnings) != 0 {
			t.Errorf("%s:\n%s\nwarnings %q", c.folder, d, d.Warnings)
		}
	}
}

// A fold of a collection is named by its number.
func TestDescribeOfAFoldIsThatOfItsFolder(t *testing.T) {
	s, err := Open(filepath.Dir(mq2008.write(t)), Options{Fold: 4})
	if err != nil {
		t.Fatal(err)
	}
	if d := Describe("MQ2008", s.Train, s.Vali, s.Test); d.Queries != 784 || len(d.Warnings) != 0 {
		t.Errorf("%s\nwarnings %q", d, d.Warnings)
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

// The time for a feature is the same for any number of them.
func BenchmarkDescribe(b *testing.B) {
	for _, features := range []int{1_000, 10_000, 100_000} {
		d := &Dataset{Features: make([]float32, 2*features), Labels: []float32{0, 1}, Offsets: []int{0, 2}, QueryIDs: []string{"q"}}
		for id := range features {
			d.FeatureIDs = append(d.FeatureIDs, id+1)
		}
		b.Run(strconv.Itoa(features), func(b *testing.B) {
			for b.Loop() {
				_ = Describe("", d).String()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*features), "ns/feature")
		})
	}
}

// A program that only scores may leave labels out.
func TestDatasetsWithoutLabels(t *testing.T) {
	d := three()
	d.Labels = nil
	if is := Describe("d", d); is.Documents != 4 || is.Labels["-1"] != 4 || is.LabelFree != 4 || is.FeatureList[0].Max != 7 {
		t.Errorf("%+v", is)
	}
	for _, err := range []error{d.Validate(), WriteQrels(io.Discard, d), WriteRun(io.Discard, d, make([]float64, 4), "t")} {
		if err == nil || !strings.Contains(err.Error(), "labels") {
			t.Errorf("error %v", err)
		}
	}
}
