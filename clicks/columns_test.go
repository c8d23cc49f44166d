package clicks

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
)

// texts are the features of an impression as they are logged.
func texts(t *testing.T, l *Log, im *Impression) (all []string) {
	t.Helper()
	for i, v := range im.Features {
		text, err := AppendFeature(nil, v, l.Levels[i%len(l.Levels)])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	return all
}

// A log has the names of features, and the texts that values stand for, which may be numbered otherwise in another log.
func TestNamesAndTextsAreLogged(t *testing.T) {
	nan := float32(math.NaN())
	d := &datasets.Dataset{QueryIDs: []string{"q", "r"}, Offsets: []int{0, 2, 4}, Labels: make([]float32, 4), FeatureIDs: []int{1, 3, 4}, FeatureNames: []string{"price", "city", "no \"plain\" name"},
		Levels:   [][]string{nil, {"Oslo", "7", "ü"}, nil},
		Features: []float32{.5, 3, nan, 2, nan, 1, nan, 0, 1, 7, 2, 1}}
	log, err := Simulate(d, Logger{}, User{}, 50, 1)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Write(&b, log); err != nil {
		t.Fatal(err)
	}
	got, err := Read(logFile(t, "log", b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.FeatureIDs, d.FeatureIDs) || !reflect.DeepEqual(got.FeatureNames, d.FeatureNames) || got.Levels[0] != nil || len(got.Levels[1]) != 2 || got.Levels[2] != nil {
		t.Errorf("%v %q %q", got.FeatureIDs, got.FeatureNames, got.Levels)
	}
	for i := range got.Impressions {
		if is, want := texts(t, got, &got.Impressions[i]), texts(t, log, &log.Impressions[i]); !reflect.DeepEqual(is, want) {
			t.Errorf("%q, want %q", is, want)
		}
	}
	gains, err := Gains(got, Bias{}, Naive)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(gains.FeatureNames, d.FeatureNames) || !reflect.DeepEqual(gains.Levels, got.Levels) {
		t.Errorf("gains have the names %q and texts %q", gains.FeatureNames, gains.Levels)
	}
}

// lineWith is a line with features and what says what they are.
func lineWith(id int, plrank string) string {
	return fmt.Sprintf(`{"query_id": "%d", "query_response_hit_ids": ["a"], "query_attributes": {"plrank": {"seed": "1", "cutoff": 1, %s}}}`+"\n", id, plrank)
}

func TestColumnsOfAllLinesAgree(t *testing.T) {
	for want, log := range map[string]string{
		`query "2" has the feature names ["b"], but ["a"] in the lines before`:                lineWith(1, `"features": [1], "feature_names": ["a"]`) + lineWith(2, `"features": [1], "feature_names": ["b"]`),
		`query "2" has the feature names [], but ["a"] in the lines before`:                   lineWith(1, `"features": [1], "feature_names": ["a"]`) + lineWith(2, `"features": [1]`),
		`query "2" has numbers and texts in column 2 of its features and in the lines before`: lineWith(1, `"features": [1, "x"]`) + lineWith(2, `"features": [1, 2]`),
		`query "3" has numbers and texts in column 1 of its features and in the lines before`: lineWith(1, `"features": [null]`) + lineWith(2, `"features": [5]`) + lineWith(3, `"features": [""]`),
		`query "2" has 1 features a document, but 2 in the lines before`:                      lineWith(1, `"features": [1, "x"]`) + lineWith(2, `"features": ["x"]`),
		`query "1" has two features with the name "a"`:                                        lineWith(1, `"features": [1, 2, 3, 4], "feature_names": ["", "a", "", "a"]`),
		`query "1" has 1048577 features a document, want 1048576 at most`:                     lineWith(1, `"features": [`+strings.Repeat("1,", mostColumns)+`""]`),
		`query "2" has the feature ids [1 2], but [3 5] in the lines before`:                  lineWith(1, `"features": [1, 2], "feature_ids": [3, 5]`) + lineWith(2, `"features": [1, 2]`),
		`query "2" has the feature ids [3 5], but [1 2] in the lines before`:                  lineWith(1, `"features": [1, 2]`) + lineWith(2, `"features": [1, 2], "feature_ids": [3, 5]`),
	} {
		if _, err := Read(logFile(t, "log", log)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	// A line that is left out says nothing of the columns, and so does one without features.
	for _, odd := range []string{`"features": ["x", 1], "drawn": [0, 1, 2], "scores": [1, 2]`, `"features": ["x", 1], "drawn": []`, `"feature_ids": [3, 5]`} {
		log, err := Read(logFile(t, "log", lineWith(1, odd)+lineWith(2, `"features": [1, "y"]`)))
		if err != nil || !reflect.DeepEqual(log.Levels, [][]string{nil, {"y"}}) || log.FeatureIDs != nil {
			t.Errorf("%s: %+v, %v", odd, log, err)
		}
	}
	log, err := Read(logFile(t, "log", lineWith(1, `"features": ["x", "y", "z"], "scores": [1, 2]`)+lineWith(2, `"features": [1, "x"]`)+lineWith(3, `"features": [null, "y"]`)+lineWith(4, `"candidates": []`)))
	if err != nil || !reflect.DeepEqual(log.Levels, [][]string{nil, {"x", "y"}}) || len(log.Impressions) != 2 {
		t.Errorf("%+v, %v", log, err)
	}
}

// A log stays of use if users send more texts than a column may have.
func TestTextsBeyondTheMostAreUnknown(t *testing.T) {
	candidates, features := []string{"a"}, []string{"0"}
	for i := range mostTexts {
		candidates, features = append(candidates, strconv.Itoa(i)), append(features, strconv.Itoa(i+1))
	}
	list := func(texts []string) string { return `["` + strings.Join(texts, `","`) + `"]` }
	many := lineWith(1, `"candidates": `+list(candidates)+`, "features": `+list(features))
	log, err := Read(logFile(t, "log", many+lineWith(2, `"features": ["1"]`)))
	if err != nil {
		t.Fatal(err)
	}
	if x, again := log.Impressions[0].Features[mostTexts], log.Impressions[1].Features[0]; x != 0 || again != 2 || len(log.Levels[0]) != mostTexts {
		t.Errorf("one text more is %v, one that was there before %v of %d", x, again, len(log.Levels[0]))
	}
	if want := "1 values of features are texts beyond the first 100000 of their column"; !strings.Contains(strings.Join(log.Warnings, "\n"), want) {
		t.Errorf("warnings %q, want %s", log.Warnings, want)
	}
}

// Parts of one log have more and more texts. Another log, which numbers them differently, is refused.
func TestGainsRefuseOtherColumns(t *testing.T) {
	log := func(ids []int, names []string, levels ...string) *Log {
		return &Log{FeatureIDs: ids, FeatureNames: names, Levels: [][]string{levels},
			Impressions: []Impression{{Query: "q", Documents: []string{"a"}, Features: []float32{1}, Shown: []int{0}, Clicks: []float64{1}}}}
	}
	for _, c := range []struct {
		next *Log
		want string
	}{
		{log([]int{4}, []string{"city"}, "Oslo", "Rom"), ""},
		{log([]int{4}, []string{"city"}, "Rom", "Oslo"), "column 0 numbers its texts differently"},
		{log([]int{4}, []string{"town"}, "Oslo"), `the features [4] ["town"] differ from [4] ["city"] in the log before`},
		{log([]int{5}, []string{"city"}, "Oslo"), "want the same ids and names"},
		{&Log{Impressions: log(nil, nil).Impressions}, "want the same ids and names"},
		{&Log{Impressions: []Impression{{Query: "r", Documents: []string{"a"}}}}, ""},
		{&Log{Levels: [][]string{}, Impressions: []Impression{{Query: "r", Documents: []string{"a"}, Features: []float32{1, 2}}}}, `(query "r"): 2 features a document, where others of the log have 1`},
	} {
		g, err := NewGainEstimation(Bias{}, Naive)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Add(log([]int{4}, []string{"city"}, "Oslo")); err != nil {
			t.Fatal(err)
		}
		if err := g.Add(c.next); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// Texts may have what ends an entry or an array.
func TestTextsOfAnyCharacters(t *testing.T) {
	want := []string{"a,b", `"`, `\`, `\",`, "],[", "null", "ü €", "7"}
	line, err := AppendQuery(nil, &Impression{ID: "1", Documents: []string{"a"}, Features: []float32{.5, 1, 1, 1, 1, 1, 1, 1, 1, float32(math.NaN()), 0}},
		&Log{Levels: [][]string{nil, {want[0]}, {want[1]}, {want[2]}, {want[3]}, {want[4]}, {want[5]}, {want[6]}, {want[7]}, {"x"}, {"y"}}})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(line), `"query_response_hit_ids":[]`, `"query_response_hit_ids":["a"]`)
	text = strings.ReplaceAll(text, `"drawn":[],`, ``)
	log, err := Read(logFile(t, "log", text))
	if err != nil || len(log.Impressions) != 1 {
		t.Fatalf("%+v, %v", log, err)
	}
	features := log.Impressions[0].Features
	for i, w := range want {
		if features[i+1] != 1 || !reflect.DeepEqual(log.Levels[i+1], []string{w}) {
			t.Errorf("%v of %q, want %q", features[i+1], log.Levels[i+1], w)
		}
	}
	if features[0] != .5 || features[9] == features[9] || features[10] != 0 || len(features) != 11 {
		t.Errorf("features %v", features)
	}
	if log, err := Read(logFile(t, "log", lineWith(1, `"features": ["x", true]`)+lineWith(2, `"features": "x"`)+lineWith(3, `"features": [["x"]]`)+lineWith(4, `"features": {"x": 1}`)+lineWith(5, `"features": [5]`))); err != nil || len(log.Impressions) != 1 {
		t.Errorf("%+v, %v", log, err)
	}
}

// A text of a log is itself; "" is one that was not known, and [""] the empty text.
func TestTextsOfALogAreThemselves(t *testing.T) {
	texts := []string{"8.0", "8", " 8", "true", "True", "1", "NA", "nan", "?", " ", ""}
	lines := lineWith(0, `"features": [""]`)
	for v := range texts {
		feature, err := AppendFeature(nil, float32(v+1), texts)
		if err != nil {
			t.Fatal(err)
		}
		lines += lineWith(v+1, `"features": [`+string(feature)+`]`)
	}
	log, err := Read(logFile(t, "log", lines))
	if err != nil || !reflect.DeepEqual(log.Levels, [][]string{texts}) {
		t.Fatalf("%+v, %v", log, err)
	}
	for i, im := range log.Impressions {
		if im.Features[0] != float32(i) {
			t.Errorf("line %d: %v, want %d", i+1, im.Features[0], i)
		}
	}
}
