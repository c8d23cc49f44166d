package serve

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/ranker"
)

// named is a file of a model of the features price, city and size, whose scores are the price plus 100
// times the number of the city.
func named(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.npz")
	testkit.LinearModel(t, path, 1, 100, 0)
	m, err := ranker.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	f := *m.File()
	f.FeatureNames, f.Levels = []string{"price", "city", "size"}, [][]string{nil, {"Oslo", "Bern", "7"}, nil}
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// Documents by name, by id and as arrays have the same scores; texts are what they stand for.
func TestDocumentsNameTheirFeatures(t *testing.T) {
	s, _ := tested(t, Options{Models: only(named(t))})
	for documents, want := range map[string][]float64{
		`[{"price": 3, "city": "Bern"}, {"city": "Oslo", "price": 4}]`:     {203, 104},
		`[[3, "Bern", 1], [4, "Oslo", 1], [5, "Rome", null], [6, 7.0, 1]]`: {203, 104, 5, 306},
		`[[true, "Bern", 1], {"price": false, "city": "Oslo"}]`:            {201, 100},
		`[{"1": 3, "5": "Bern"}, {"1": 3}, {}]`:                            {203, 3, 0},
		`[{"price": 3, "city": "B\u0065rn"}]`:                              {203},
	} {
		w := post(s, `{"documents": `+documents+`}`)
		var answer struct{ Scores []float64 }
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || !slices.Equal(answer.Scores, want) {
			t.Errorf("%s: %s, want %v", documents, w.Body, want)
		}
	}
	for document, want := range map[string]string{
		`{"prize": 3}`:                   `document 0: unknown feature "prize": want one of feature_ids or feature_names of GET /v1/models`,
		`{"price": "dear"}`:              `document 0, feature price: want a number, or null for a missing value`,
		`{"city": []}`:                   `document 0, feature city: want a text, or null for a missing value`,
		`{"city": "Oslo", "city": null}`: `document 0: feature city is given twice`,
		`{"price": 1, "5": "Oslo"}`:      `mixes names and ids`,
	} {
		if w := post(s, `{"documents": [`+document+`]}`); w.Code != 400 || !strings.Contains(strings.ReplaceAll(w.Body.String(), `\"`, `"`), want) {
			t.Errorf("%s: %d %s, want %s", document, w.Code, w.Body, want)
		}
	}
}

// What is not mentioned by name is missing, as null is.
func TestNamesThatAreNotMentionedAreMissing(t *testing.T) {
	m, err := ranker.Open(named(t))
	if err != nil {
		t.Fatal(err)
	}
	model := &served{Model: m, columns: map[int]int{}}
	for column, id := range m.FeatureIDs() {
		model.columns[id] = column
	}
	var r rows
	_, err = parseRequest([]byte(`{"documents": [{"price": 3}, {"city": "Oslo"}, {"city": null, "price": 2}, {}]}`), nil, &r, false,
		func(map[string][]byte) *served { return model })
	want := []float32{3, missing, missing, missing, 1, missing, 2, missing, missing, missing, missing, missing}
	if err != nil || !slices.EqualFunc(r.features, want, func(a, b float32) bool { return a == b || a != a && b != b }) {
		t.Errorf("%v, %v, want %v", r.features, err, want)
	}
}

// A word that a document does not name is 0, and one that the training data have not is left out.
func TestDocumentsOfWords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.npz")
	testkit.LinearModel(t, path, 1, 100, 10)
	m, err := ranker.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	f := *m.File()
	f.FeatureNames, f.Sparse = []string{"word:red", "word:blue", "price"}, true
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	s, _ := tested(t, Options{Models: only(path)})
	dense, _ := tested(t, Options{Models: only(path)})
	dense.models["default"].model.Load().keepsSparse = false
	if !s.models["default"].model.Load().keepsSparse {
		t.Fatal("documents do not stay sparse")
	}
	for _, body := range []string{
		`{"documents": [[1, 0, null], [0, 0, 0], [true, 2.5, -1]]}`, `{"documents": [{"9": 1}, {"7": null, "5": 2}], "explain": {"document": 1}}`,
		`{"documents": []}`, `{"documents": [{"price": 1, "word:blue": 0}, {}, {"word:red": 3}], "draw": {"cutoff": 2, "seed": 5}}`,
		`{"documents": [{"price": 2}, {"price": 1}, {}], "quotas": [{"column": "price", "value": 1, "least": 1, "of the first": 1}]}`,
		`{"documents": [{"price": 2}, {"word:red": 1, "price": 1}, {}], "diversify": {"lambda": 0.5, "vector": ["price", "word:red"]}}`,
		`{"documents": [{"price": "x"}]}`, `{"documents": [[1, 2]]}`, `{"documents": [{"price": 1}, [1, 2, 3], {"5": 2}]}`,
	} {
		got, want := post(s, body), post(dense, body)
		if got.Code != want.Code || got.Body.String() != want.Body.String() {
			t.Errorf("%s: %s, want %s", body, got.Body, want.Body)
		}
	}
	for _, line := range []string{`{"documents": 2}`, `{"documents": 3, "features": ["price", "word:red"]}`} {
		body := binaryBody(line, 1, 0, 2, missing, 4, 5)
		if got, want := postBinary(s, body), postBinary(dense, body); got.Code != 200 || got.Body.String() != want.Body.String() {
			t.Errorf("%s: %s, want %s", line, got.Body, want.Body)
		}
	}
	w := post(s, `{"documents": [{"word:red": 1}, {"word:green": [1, {}], "word:blue": 2, "price": 3}, {"word:green": 1}, {}, {"5": 1, "999": 4}]}`)
	var answer struct{ Scores []float64 }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || !slices.Equal(answer.Scores, []float64{1, 230, 0, 0, 100}) {
		t.Errorf("%s", w.Body)
	}
	if w := post(s, `{"documents": [{"word:green": 1, "word:red": 1, "word:red": 2}]}`); w.Code != 400 {
		t.Errorf("a word is given twice: %s", w.Body)
	}
}

// The log of documents of words has the words of each, those that the model does not know as well.
func TestWordsAreLogged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.npz")
	testkit.LinearModel(t, path, 1, 100, 10)
	m, err := ranker.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, names := range [][]string{nil, {"word:red", "word:blue", "price"}} {
		f := *m.File()
		f.FeatureNames, f.Sparse = names, true
		if err := f.Save(path); err != nil {
			t.Fatal(err)
		}
		folder := t.TempDir()
		s, _ := tested(t, Options{Models: only(path), Clicks: folder})
		named := func(column int) string { return s.models["default"].model.Load().FeatureName(column) }
		const draw = `"query": "q", "document_ids": ["a", "b", "c"], "draw": {"cutoff": 2, "seed": 3}`
		for _, body := range []string{
			fmt.Sprintf(`{%s, "documents": [{%q: 1.50, "green": 2, "gone": 0, "odd": "x", %q: 0}, {}, {"\"é": 1, "green": 4, %[3]q: null}]}`, draw, named(0), named(1), named(2)),
			fmt.Sprintf(`{"documents": [[1.5, 0, 0], {"green": 4}, [0, 0, 0]], %s}`, draw),
		} {
			if w := post(s, body); w.Code != 200 {
				t.Fatal(w.Body)
			}
		}
		if w := postBinary(s, binaryBody(`{"documents": 3, `+draw+`}`, 1.5, 0, 0, 0, 0, 0, 0, 0, missing)); w.Code != 200 {
			t.Fatal(w.Body)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		log, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		want := []string{`[{"word:red":1.5,"green":2},{},{"word:blue":null,"\"é":1,"green":4}]`, `[{"word:red":1.5},{"green":4},{}]`, `[{"word:red":1.5},{},{"price":null}]`}
		by := "name"
		if names == nil { // and words that are not ids are not logged
			by, want = "id", []string{`[{"1":1.5},{},{"5":null}]`, `[{"1":1.5},{},{}]`, `[{"1":1.5},{},{"9":null}]`}
		}
		if l, err := clicks.Read(folder); err != nil || len(l.Impressions) != 3 || len(l.Warnings) > 0 {
			t.Errorf("%+v, %v", l, err)
		}
		for i, line := range strings.Split(strings.TrimSpace(string(log)), "\n") {
			if want := `"features_by":"` + by + `","features":` + want[i] + `}}}`; !strings.HasSuffix(line, want) || strings.Contains(line, "feature_ids") {
				t.Errorf("%s, want it to end in %s", line, want)
			}
		}
	}
}

// Models of other words share a log, and each scores documents by its own.
func TestModelsOfOtherWordsAreInterleaved(t *testing.T) {
	files := map[string]string{}
	for name, words := range map[string][]string{"a": {"red", "blue", "price"}, "b": {"green", "price", "red"}} {
		files[name] = filepath.Join(t.TempDir(), name)
		testkit.LinearModel(t, files[name], 1, 100, 10)
		m, err := ranker.Open(files[name])
		if err != nil {
			t.Fatal(err)
		}
		f := *m.File()
		f.FeatureNames, f.Sparse = words, true
		if err := f.Save(files[name]); err != nil {
			t.Fatal(err)
		}
	}
	folder := t.TempDir()
	s, _ := tested(t, Options{Models: files, Interleave: []string{"a", "b"}, Clicks: folder})
	if w := post(s, `{"query": "q", "document_ids": ["x", "y"], "documents": [{"red": 1, "green": 2}, {"price": 3, "new": 1}]}`); w.Code != 200 {
		t.Fatal(w.Body)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	log, err := clicks.Read(folder)
	if err != nil || len(log.Impressions) != 1 {
		t.Fatalf("%+v, %v", log, err)
	}
	for i, want := range [][]float64{{1, 30}, {12, 300}} {
		if got := log.Impressions[0].Interleaving.Models[i].Scores; !slices.Equal(got, want) {
			t.Errorf("model %d: scores %v, want %v", i, got, want)
		}
	}
	if want := []string{"green", "red", "new", "price"}; !slices.Equal(slices.Sorted(slices.Values(log.FeatureNames)), slices.Sorted(slices.Values(want))) {
		t.Errorf("words %q, want %q", log.FeatureNames, want)
	}
}
