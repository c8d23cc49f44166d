package clicks

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
)

// ofWords is data whose documents have one or two of five features.
func ofWords(names []string) *datasets.Dataset {
	d := &datasets.Dataset{QueryIDs: []string{"p", "q"}, Offsets: []int{0, 2, 4}, Labels: []float32{1, 0, 0, 1},
		DocumentIDs: []string{"a", "b", "b", "c"}, FeatureIDs: []int{2, 3, 5, 7, 11}, FeatureNames: names,
		Sparse: datasets.Sparse{Starts: []int{0, 2, 2, 3, 5}, Columns: []int32{1, 4, 0, 1, 2}, Values: []float32{1, 2.5, -3, 4, float32(math.NaN())}}}
	return d
}

// words has the features of the documents of an impression by name.
func words(l *Log, im *Impression) (all []map[string]string) {
	for d := range im.Documents {
		own := map[string]string{}
		columns, values := im.Sparse.Row(d)
		for i, c := range columns {
			text, _ := AppendFeature(nil, values[i], nil)
			own[l.featureName(int(c))] = string(text)
		}
		all = append(all, own)
	}
	return all
}

// A log of words has what its documents have and no more, is read back in parts, and gives gains to the same documents.
func TestWordsAreLoggedAndReadBack(t *testing.T) {
	for _, names := range [][]string{nil, {"red", "blue", "", "\"3\"", "7"}} {
		d := ofWords(names)
		log, err := Simulate(d, Logger{Cutoff: 2}, User{}, 40, 1)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := Write(&b, log); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); strings.Contains(text, "feature_names") || strings.Contains(text, "feature_ids") {
			t.Fatalf("all features are listed: %.300s", text)
		}
		path := logFile(t, "log.jsonl", b.String())
		got, err := Read(path)
		if err != nil || len(got.Warnings) > 0 || len(got.Impressions) != 40 || len(got.situations()) != 2 {
			t.Fatalf("%+v, %v", got, err)
		}
		for i := range got.Impressions {
			if own, want := words(got, &got.Impressions[i]), words(log, &log.Impressions[i]); !reflect.DeepEqual(own, want) {
				t.Fatalf("impression %d: %v, want %v", i, own, want)
			}
		}
		whole, err := Gains(log, Bias{}, Naive)
		if err != nil {
			t.Fatal(err)
		}
		g, err := NewGainEstimation(Bias{}, Naive)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (ReadOptions{}).scan([]string{path}, 1, g.Add); err != nil {
			t.Fatal(err)
		}
		parts, err := g.Dataset()
		if err != nil || !reflect.DeepEqual(parts.Gains, whole.Gains) || parts.Rows() != whole.Rows() {
			t.Fatalf("%+v, %v", parts, err)
		}
		for row := range parts.Rows() {
			for c := range parts.Width() {
				for own, id := range whole.FeatureIDs {
					if whole.FeatureName(own) != parts.FeatureName(c) || names == nil && id != parts.FeatureIDs[c] {
						continue
					}
					if x, y := parts.Value(row, c), whole.Value(row, own); x != y && (x == x || y == y) {
						t.Errorf("row %d, %s: %v, want %v", row, parts.FeatureName(c), x, y)
					}
				}
			}
		}
		if parts.Width() != 4 { // one has no values
			t.Errorf("%d features, want 4", parts.Width())
		}
	}
}

// Documents of words take the place of logged features.
func TestWordsAreJoined(t *testing.T) {
	log := &Log{Impressions: []Impression{{Query: "q", Documents: []string{"c", "b"}, Features: []float32{1, 2}}}}
	if left := Join(ofWords(nil))(log); left != 0 || log.Impressions[0].Features != nil || log.Validate() != nil {
		t.Fatalf("%d left out of %+v", left, log)
	}
	if got, want := words(log, &log.Impressions[0]), []map[string]string{{"3": "4", "5": "null"}, {"2": "-3"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Odd words are left out with their lines, and lines of both forms are an error.
func TestOddWords(t *testing.T) {
	line := func(id, features string) string {
		return `{"query_id": "` + id + `", "timestamp": 0, "query_response_hit_ids": ["a"], "query_attributes": {"plrank": {"seed": "1", "cutoff": 1, ` + features + "}}}\n"
	}
	if log, err := Read(logFile(t, "log.jsonl", line("1", `"features_by": "age", "features": [{}]`)+line("2", `"features_by": "id", "features": [{}]`))); err != nil || len(log.Impressions) != 1 {
		t.Errorf("%+v, %v", log, err)
	}
	const good = `"features_by": "name", "features": [{"red": 1, "blue": null}]`
	for _, odd := range []string{
		`"features_by": "name", "features": [{"red": 1, "red": 2}]`, `"features_by": "name", "features": [{"red": "x"}]`,
		`"features_by": "name", "features": [{"red": 1e99}]`, `"features_by": "name", "features": [{}, {}]`, `"features_by": "name", "features": [1]`,
		`"features_by": "name", "features": {}`, `"features_by": "age", "features": [{}]`, `"features_by": "name", "features": [{"red": {}}]`,
	} {
		log, err := Read(logFile(t, "log.jsonl", line("1", good)+line("2", odd)))
		if err != nil || len(log.Impressions) != 1 || len(log.Warnings) != 1 {
			t.Errorf("%s: %+v, %v", odd, log, err)
		}
	}
	for _, other := range []string{`"features_by": "id", "features": [{"1": 1}]`, `"features": [1]`} {
		for _, text := range []string{line("1", good) + line("2", other), line("2", other) + line("1", good)} {
			if _, err := Read(logFile(t, "log.jsonl", text)); err == nil || !strings.Contains(err.Error(), "want one of these") {
				t.Errorf("%s: error %v", other, err)
			}
		}
	}
}

// Regressions of more features than can be solved in a short time leave them out.
func TestWideDocumentsAreRegressedOnTheirScores(t *testing.T) {
	log := simulated(t, 6, 3, 300)
	for _, width := range []int{mostRegressed, mostRegressed + 1} {
		wide := &Log{Impressions: []Impression{{Query: "q", Documents: []string{"a"}, Features: make([]float32, width)}}}
		want := map[bool]int{true: width + 2, false: 2}[width == mostRegressed]
		if got := newRegression(wide.situations()).width; got != want {
			t.Errorf("%d features: %d inputs, want %d", width, got, want)
		}
	}
	log.FeatureIDs = nil
	for i := range log.Impressions {
		log.Impressions[i].Features = make([]float32, 6*(mostRegressed+1))
	}
	if _, _, err := EstimateBias(log, RegressionEM); err != nil {
		t.Error(err)
	}
	if _, err := Evaluate(log, Target{Policy: Logged, Bias: Bias{Alpha: []float64{1, .5, .3}}}, DR); err != nil {
		t.Error(err)
	}
}
