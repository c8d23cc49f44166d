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
		`{"documents": [[1, 2, 3]], "explain": {}}`:                                                                   `invalid request body: explain: no document: want the position of one in the request, from 0`,
		`{"documents": [[1, 2, 3], [1, 2, 4]], "explain": {"document": 0, "against": 1, "permutations": 1000000000}}`: `units of work, at most 100000 are allowed: send`,
	} {
		if w := post(s, body); !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %s, want %s", body, w.Body, want)
		}
	}
}
