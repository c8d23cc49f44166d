package explain

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/commandtest"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/transforms"
)

var call = commandtest.Command(Run).Call

func TestMain(m *testing.M) { commandtest.Main(m) }

// A linear model of weights 1, 10 and 100: the document ranked first is 21 above the other, and 10.5 above the mean of both.
func TestDifferenceIsDividedAmongFeatures(t *testing.T) {
	model, data := filepath.Join(t.TempDir(), "m.npz"), filepath.Join(t.TempDir(), "d.txt")
	testkit.LinearModel(t, model, 1, 10, 100)
	commandtest.Write(t, data, "0 qid:q 1:1 5:2 9:7 # docid = low\n0 qid:q 1:2 5:4 9:7 # docid = high\n")
	arguments := []string{"-model", model, "-data", data, "-query", "q"}
	for against, difference := range map[string]float64{"": 10.5, "low": 21} {
		all := append(arguments, "-json")
		if against != "" {
			all = append(all, "-against", against)
		}
		status, stdout, stderr := call(all...)
		var r result
		if err := json.Unmarshal([]byte(stdout), &r); err != nil || status != 0 {
			t.Fatal(status, stderr, err)
		}
		if r.Document != "high" || r.Against != against || r.Difference != difference || len(r.Features) != 2 ||
			r.Features[0].Feature != "5" || r.Features[0].Part != difference*20/21 || r.Features[0].Value != 4. {
			t.Errorf("against %q: %+v", against, r)
		}
	}
	if status, stdout, _ := call(append(arguments, "-permutations", "20")...); status != 0 || strings.Contains(stdout, "std. error") ||
		!strings.Contains(stdout, "would be too small too often") {
		t.Errorf("of few permutations: %d\n%s", status, stdout)
	}
	if _, stdout, _ := call(append(arguments, "-permutations", "20", "-json")...); strings.Contains(stdout, "standardError") {
		t.Errorf("of few permutations:\n%s", stdout)
	}
	status, stdout, stderr := call(append(arguments, "-document", "low", "-against", "high")...)
	if status != 0 || !strings.Contains(stdout, "the score of document low is 21.0000 below the one of document high.") ||
		!strings.Contains(stdout, "-20.0000") {
		t.Error(status, stdout, stderr)
	}
}

func TestUnknownQueriesAndDocumentsAreErrors(t *testing.T) {
	model, data := filepath.Join(t.TempDir(), "m.npz"), filepath.Join(t.TempDir(), "d.txt")
	testkit.LinearModel(t, model, 1, 10, 100)
	commandtest.Write(t, data, "0 qid:q 1:1\n")
	for arguments, want := range map[string]string{
		"-query x":               `has no query "x": there are q`,
		"-query q -document 2":   `-document: query q has no document "2": there are 1`,
		"-query q -against five": `-against: query q has no document "five": there are 1`,
		"":                       "-model, -data and -query are all needed",
	} {
		status, _, stderr := call(append([]string{"-model", model, "-data", data}, strings.Fields(arguments)...)...)
		if status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d, %s, want %s", arguments, status, stderr, want)
		}
	}
}

// A query that the model was trained on is warned of.
func TestTrainingQueryIsWarnedOf(t *testing.T) {
	model, data := filepath.Join(t.TempDir(), "m.npz"), filepath.Join(t.TempDir(), "d.txt")
	testkit.LinearModel(t, model, 1, 10, 100)
	commandtest.Write(t, data, "0 qid:q 1:1 5:2\n1 qid:q 1:2 5:4\n0 qid:other 1:3 5:4\n")
	m, err := ranker.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	d, err := datasets.ReadFile(data, datasets.OptionsFor(m))
	if err != nil {
		t.Fatal(err)
	}
	trained := *m.File()
	trained.TrainingQueries = ranker.NewQueryDigests(d.Select([]int{0}).TrainingDigests()...)
	if err := trained.Save(model); err != nil {
		t.Fatal(err)
	}
	for query, warned := range map[string]bool{"q": true, "other": false} {
		status, _, stderr := call("-model", model, "-data", data, "-query", query)
		if status != 0 || strings.Contains(stderr, "1 of 1 queries were trained on by "+model) != warned {
			t.Errorf("%s: %d, %s", query, status, stderr)
		}
	}
}

// Feature 1 is the same for all documents of a query, and decides whether feature 5 or 9 counts. The only other query has
// another value; the parts are in TestQueryFeaturesHaveTheirParts of package ranker.
func TestQueryFeaturesOfForestsHaveTheirParts(t *testing.T) {
	model, data := filepath.Join(t.TempDir(), "m.npz"), filepath.Join(t.TempDir(), "d.txt")
	testkit.SegmentForest(t, model)
	commandtest.Write(t, data, "0 qid:q 1:0 5:1 9:1\n0 qid:q 1:0 5:0 9:0\n0 qid:other 1:1 5:7\n0 qid:other 1:1 9:8\n")
	arguments := []string{"-model", model, "-data", data, "-query", "q", "-against", "2", "-interactions"}
	status, stdout, stderr := call(append(arguments, "-json")...)
	var r result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || status != 0 {
		t.Fatal(status, stderr, err)
	}
	parts := map[string]float64{}
	for _, f := range r.Features {
		parts[f.Feature] = f.Part
	}
	if !r.Exact || r.Background != 1 || !reflect.DeepEqual(parts, map[string]float64{"1": 1, "5": 2, "9": 1}) ||
		!reflect.DeepEqual(r.Interactions, []interaction{{[2]string{"1", "5"}, 4}, {[2]string{"1", "9"}, -2}}) {
		t.Errorf("%+v", r)
	}
	if status, stdout, _ := call(arguments...); status != 0 || !strings.Contains(stdout, "together") || strings.Contains(stdout, "std. error") ||
		!strings.Contains(stdout, "The parts are exact. Other queries that query features are compared with: 1.") {
		t.Errorf("%d\n%s", status, stdout)
	}
	linear := filepath.Join(t.TempDir(), "linear.npz")
	testkit.LinearModel(t, linear, 1, 10, 100)
	if status, _, stderr := call("-model", linear, "-data", data, "-query", "q", "-interactions"); status == 0 || !strings.Contains(stderr, "is neither") {
		t.Errorf("%d, %s", status, stderr)
	}
}

// Products of the same two vectors are one feature, with the values of all.
func TestProductsOfTwoVectorsHaveTheirValues(t *testing.T) {
	model, data := filepath.Join(t.TempDir(), "m.npz"), filepath.Join(t.TempDir(), "d.csv")
	testkit.LinearModel(t, model, 1, 10, 100)
	m, err := ranker.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	f := *m.File()
	f.FeatureNames = []string{"price", "cosine(q,d)", "dot(q,d)"}
	f.Vectors = []transforms.Vector{{Name: "q", Dimension: 2}, {Name: "d", Dimension: 2}}
	f.Products = []transforms.Product{{Name: "cosine(q,d)"}, {Name: "dot(q,d)"}}
	if err := f.Save(model); err != nil {
		t.Fatal(err)
	}
	commandtest.Write(t, data, "query,price,q,d\n7,1,1 0,2 0\n7,1,1 0,0 3\n")
	arguments := []string{"-model", model, "-data", data, "-query", "7", "-against", "2"}
	status, stdout, stderr := call(append(arguments, "-json")...)
	var r result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || status != 0 {
		t.Fatal(status, stderr, err)
	}
	if len(r.Features) != 1 || r.Features[0].Part != 210 || !reflect.DeepEqual(r.Features[0].Value, []any{1., 2.}) ||
		!reflect.DeepEqual(r.Features[0].Other, []any{0., 0.}) {
		t.Errorf("%+v", r)
	}
	if _, stdout, _ := call(arguments...); !strings.Contains(stdout, "cosine(q,d), dot(q,d)") || !strings.Contains(stdout, "1, 2") {
		t.Error(stdout)
	}
}
