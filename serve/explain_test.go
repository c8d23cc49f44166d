package serve

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/testkit"
)

// A linear model of weights 1, 10 and 100 gives each feature its weight times the difference of its values.
func TestExplanationDividesTheDifference(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 10, 100)
	s, _ := tested(t, Options{Models: only(path), Limits: Limits{Work: 100_000}})
	for body, want := range map[string]string{
		`{"documents": [[1, 2, 3], [0, 2, 5]], "explain": {"document": 1, "against": 0}}`: `"explanation":{"difference":199,"values":[-1,0,200],"standard_errors":[0,0,0]}}`,
		// The third feature is 2 above its mean, 3.
		`{"documents": [[1, 2, 3], [1, 2, 5], [1, 2, 1]], "explain": {"document": 1, "permutations": 6}}`:             `"explanation":{"difference":200,"values":[0,0,200]}}`,
		`{"documents": [[1, 2, 3]], "explain": {"document": 1}}`:                                                      `explain: ranker: document 1 of a query of 1 documents: want 0 to 0`,
		`{"documents": [[1, 2, 3]], "explain": {"document": -1}}`:                                                     `invalid request body: explain: document -1, want a whole number of 0 or more`,
		`{"documents": [[1, 2, 3]], "explain": {}}`:                                                                   `invalid request body: explain: no document: want a whole number of 0 or more`,
		`{"documents": [[1, 2, 3], [1, 2, 4]], "explain": {"document": 0, "against": 1, "permutations": 1000000000}}`: `units of work, at most 100000 are allowed: send`,
	} {
		if w := post(s, body); !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %s, want %s", body, w.Body, want)
		}
	}
}

// A forest has exact parts. Feature 1 is 0 for both documents, and decides that feature 5 counts: together they have all. Against
// queries in which it is 1, where feature 9 counts, it has a part, see TestQueryFeaturesHaveTheirParts of package ranker.
func TestExplanationOfAForestIsExact(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.SegmentForest(t, path)
	s, _ := tested(t, Options{Models: only(path)})
	const documents = `{"documents": [[0, 1, 1], [0, 0, 0]], "explain": {"document": 0, "against": 1`
	for body, want := range map[string]string{
		`}}`:                       `"explanation":{"difference":4,"values":[0,4,0],"exact":true}}`,
		`, "interactions": true}}`: `"explanation":{"difference":4,"values":[0,4,0],"exact":true}}`,
		`, "interactions": true, "background": [[1, 7, 7]]}}`: `"explanation":{"difference":4,"values":[1,2,1],"exact":true,` +
			`"interactions":[{"features":[0,1],"value":4},{"features":[0,2],"value":-2}]}}`,
		`, "interactions": 1}}`:            `invalid request body: explain: interactions 1, want true or false`,
		`, "background": 1}}`:              `invalid request body: explain: background: want an array`,
		`, "background": [[1, 7]]}}`:       `explain: background: document 0`,
		`, "background": [{"price": 1}]}}`: `explain: background: document 0`,
	} {
		if w := post(s, documents+body); !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %s, want %s", body, w.Body, want)
		}
	}
}
