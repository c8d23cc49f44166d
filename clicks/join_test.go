package clicks

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
)

// The features of the documents come from other data, where these have them all.
func TestJoinReplacesFeatures(t *testing.T) {
	log := simulated(t, 6, 3, 100)
	want := make([][]float32, len(log.Impressions))
	for i := range log.Impressions {
		want[i] = log.Impressions[i].Features
		log.Impressions[i].Features = nil
	}
	d := fifty(6)
	d.FeatureIDs = []int{7}
	unknown := log.Impressions[0]
	unknown.Documents = append([]string{"unknown"}, unknown.Documents[1:]...)
	other := log.Impressions[0]
	other.Query = "another"
	log.Impressions = append(log.Impressions, unknown, other)
	if left := Join(d)(log); left != 2 || len(log.Impressions) != 100 || !reflect.DeepEqual(log.FeatureIDs, d.FeatureIDs) {
		t.Fatalf("%d impressions left out, %d kept, feature ids %v", left, len(log.Impressions), log.FeatureIDs)
	}
	for i := range log.Impressions {
		if !reflect.DeepEqual(log.Impressions[i].Features, want[i]) {
			t.Errorf("impression %d: features %v, want %v", i, log.Impressions[i].Features, want[i])
		}
	}
	if n := len(log.situations()); n > 50 {
		t.Errorf("%d situations of 50 queries: features are not shared", n)
	}
}

// Of two documents with one id, it is not known which one was a candidate.
func TestDocumentsThatAreThereTwiceAreNotJoined(t *testing.T) {
	d := &datasets.Dataset{QueryIDs: []string{"q"}, Offsets: []int{0, 4}, Labels: make([]float32, 4), DocumentIDs: []string{"a", "b", "a", "a"}, FeatureIDs: []int{1}, Features: []float32{1, 2, 3, 4}}
	log := &Log{Impressions: []Impression{{Query: "q", Documents: []string{"a", "b"}}, {Query: "q", Documents: []string{"b"}}}}
	if left := Join(d)(log); left != 1 || len(log.Impressions) != 1 || !reflect.DeepEqual(log.Impressions[0].Features, []float32{2}) {
		t.Errorf("%d left out of %+v", left, log.Impressions)
	}
}

func TestBiasFilesRoundTrip(t *testing.T) {
	for _, b := range []Bias{{Alpha: []float64{1, 1. / 3}}, {Alpha: []float64{1, .5}, Beta: []float64{.25, -1e-17}}} {
		var text bytes.Buffer
		if err := b.Write(&text); err != nil {
			t.Fatal(err)
		}
		got, err := ReadBias(logFile(t, "bias.json", "\ufeff"+text.String())) // as some editors write it
		if err != nil || !reflect.DeepEqual(got, b) {
			t.Errorf("%v, %v; want %v", got, err, b)
		}
	}
	for text, want := range map[string]string{
		`{"alpha": [1, -1]}`:            "the position bias of rank 2 is -1",
		`{"alpha": [1]} {"alpha": [2]}`: "there is more after the first JSON object",
		`{"alpha": []}`:                 "no position bias",
		`{"alfa": [1]}`:                 `unknown field "alfa"`,
		"k,alpha\n1,1\n":                "want JSON such as",
		"":                              "want JSON such as",
	} {
		path := logFile(t, "bias", text)
		if _, err := ReadBias(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: error %v, want %q with the path", text, err, want)
		}
	}
	if err := (Bias{Alpha: []float64{math.NaN()}}).Write(&bytes.Buffer{}); err == nil {
		t.Error("no error for NaN")
	}
}
