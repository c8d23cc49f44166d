package serve

import (
	"encoding/json"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/transforms"
)

// vectored is a file of a model of a feature f and products of the vectors q and d, of two dimensions; scores are f plus 10 times the
// cosine plus 100 times the bilinear product.
func vectored(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.npz")
	testkit.LinearModel(t, path, 1, 10, 100)
	m, err := ranker.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	f := *m.File()
	f.FeatureNames = []string{"f", "cosine(q,d)", "bilinear(q,d,1)"}
	f.Vectors = []transforms.Vector{{Name: "q", Dimension: 2}, {Name: "d", Dimension: 2}}
	f.Products = []transforms.Product{{Name: "cosine(q,d)"}, {Name: "bilinear(q,d,1)", Left: [][]float32{{1, 2}}, Right: [][]float32{{0, 1}}}}
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRequestsHaveVectors(t *testing.T) {
	s, _ := tested(t, Options{Models: only(vectored(t))})
	for body, want := range map[string][]float64{
		`"vectors": {"q": [3, 4], "d": [[3, 4], [-4, 3]]}, "documents": [[1], {"f": 2}]`:     {1 + 10 + 100*11*4, 2 + 100*11*3},
		`"documents": [[1], [2]], "vectors": {"d": [[3, 4], [0, 0]], "q": [[3, 4], [3, 4]]}`: {1 + 10 + 100*11*4, 2},
		`"vectors": {"q": [3, 4], "d": [null, []]}, "documents": [[1], [2]]`:                 {1, 2},
		`"vectors": {"q": null, "d": [[1, 2], []]}, "documents": [[1], [2]]`:                 {1, 2},
		`"documents": [[1, 1, 2], {"f": 1, "bilinear(q,d,1)": 3}]`:                           {211, 301},
		`"vectors": {"q": [3, 4], "d": []}, "documents": []`:                                 {},
	} {
		w := post(s, `{`+body+`}`)
		var answer struct{ Scores []float64 }
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || !slices.EqualFunc(answer.Scores, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-3 }) {
			t.Errorf("%s: %s, want %v", body, w.Body, want)
		}
	}
	for body, want := range map[string]string{
		`"vectors": {"q": [3], "d": [[3, 4]]}, "documents": [[1]]`:                   "document 0: the vector q has the dimension 1, want 2",
		`"vectors": {"q": [3, 4], "d": [[3, 4], [1, 2, 3]]}, "documents": [[1],[2]]`: "document 1: the vector d has the dimension 3, want 2",
		`"vectors": {"q": [3, 4], "d": [[3, 4]]}, "documents": [[1],[2]]`:            `vectors: "d": 1 for 2 documents`,
		`"vectors": {"q": [3, "x"]}, "documents": [[1]]`:                             `"q", number 1: want a number`,
		`"vectors": {"q": [3, 1e99]}, "documents": [[1]]`:                            "beyond the range of float32",
		`"vectors": {"d": [[3, null]]}, "documents": [[1]]`:                          `document 0, number 1: want a number"}`,
		`"vectors": {"x": [3, 4]}, "documents": [[1]]`:                               `no vector "x": it has q, d`,
		`"vectors": {"q": 3}, "documents": [[1]]`:                                    "want an array of numbers for the query",
		`"vectors": [3], "documents": [[1]]`:                                         "want an object of vectors by name",
		`"vectors": {"q": [1, 2], "q": [1, 2]}, "documents": [[1]]`:                  "occurs twice",
		`"documents": [[1]]`:    "a document has 1 features, want 3, or the vectors q, d as well",
		`"documents": [[1, 2]]`: "has 2 features, want 3, or 1 and the vectors q, d",
	} {
		if w := post(s, `{`+body+`}`); w.Code != 400 || !strings.Contains(strings.ReplaceAll(w.Body.String(), `\"`, `"`), want) {
			t.Errorf("%s: %d %s, want %s", body, w.Code, w.Body, want)
		}
	}
	path := filepath.Join(t.TempDir(), "model.npz")
	testkit.LinearModel(t, path, 1, 2, 3)
	other, _ := tested(t, Options{Models: only(path)})
	if w := post(other, `{"vectors": {"q": [3, 4]}, "documents": [[1, 2, 3]]}`); w.Code != 400 || !strings.Contains(w.Body.String(), `the model has no vector \"q\": it has none`) {
		t.Errorf("a model without vectors: %d %s", w.Code, w.Body)
	}
	w := httptest.NewRecorder()
	if s.ServeHTTP(w, httptest.NewRequest("GET", "/v1/models", nil)); !strings.Contains(w.Body.String(), `"vectors":{"d":2,"q":2}`) {
		t.Errorf("models: %s", w.Body)
	}
}

// A log has the products, by which a model can be trained, and not the vectors.
func TestLogsHaveProductsOfVectors(t *testing.T) {
	folder := t.TempDir()
	s, _ := tested(t, Options{Models: only(vectored(t)), Clicks: folder})
	for _, documents := range []string{`[[1], [2]]`, `[{"f": 1}, {"f": 2}]`} {
		w := post(s, `{"query": "x", "document_ids": ["a", "b"], "draw": {"cutoff": 2}, "vectors": {"q": [3, 4], "d": [[3, 4], [-4, 3]]}, "documents": `+documents+`}`)
		if w.Code != 200 {
			t.Fatal(w.Body)
		}
	}
	s.Close()
	log, err := clicks.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, im := range log.Impressions {
		if want := []float32{1, 1, 44, 2, 0, 33}; !slices.Equal(im.Features, want) {
			t.Errorf("features %v, want %v", im.Features, want)
		}
	}
	if len(log.Impressions) != 2 {
		t.Errorf("%d impressions", len(log.Impressions))
	}
}

// Cosines of unit vectors have the same bits in text and in a request.
func TestProductsOfRequestsAreThoseOfFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.csv")
	text, unit := "qid,label,f,q,d\n", func(i int) []float32 {
		a := float64(i)
		return []float32{float32(math.Cos(a)), float32(math.Sin(a))}
	}
	var documents, values [][]float32
	q, _ := json.Marshal(unit(1000))
	for i := range 50 {
		documents, values = append(documents, unit(i)), append(values, []float32{0})
		d, _ := json.Marshal(unit(i))
		text += "a,1,0,\"" + string(q) + "\",\"" + string(d) + "\"\n"
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := ranker.Open(vectored(t))
	if err != nil {
		t.Fatal(err)
	}
	read, err := datasets.ReadFile(path, datasets.OptionsFor(m))
	if err != nil {
		t.Fatal(err)
	}
	var r rows
	body, _ := json.Marshal(map[string]any{"documents": values, "vectors": map[string]any{"q": json.RawMessage(q), "d": documents}})
	model := &served{Model: m, columns: map[int]int{0: 0, 1: 1, 2: 2}, products: 2, vectorNames: []string{"q", "d"}}
	pick := func(map[string][]byte) *served { return model }
	in, err := parseRequest(body, nil, &r, false, pick)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.multiply(model, in); err != nil || !slices.Equal(r.features, read.Features) {
		t.Errorf("error %v, features %v, want %v", err, r.features, read.Features)
	}
}
