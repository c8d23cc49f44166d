package datasets

import (
	"github.com/plrank/plrank/transforms"

	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
)

// counting is a model that sums the features of a document, and counts the documents of each call.
type counting struct {
	compares bool
	mutex    sync.Mutex
	rows     []int
}

func (*counting) FeatureIDs() []int              { return []int{1, 2} }
func (*counting) FeatureNames() []string         { return nil }
func (*counting) Levels() [][]string             { return nil }
func (*counting) Columns() map[string]string     { return nil }
func (*counting) NumberLevels() []int            { return nil }
func (*counting) Vectors() []transforms.Vector   { return nil }
func (*counting) Products() []transforms.Product { return nil }
func (*counting) OnBaseScores() bool             { return false }
func (c *counting) ComparesDocuments() bool      { return c.compares }
func (*counting) Seen([]uint64) int              { return 0 }
func (c *counting) ScoreOn(_ context.Context, dst []float64, features, _ []float32) ([]float64, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.rows = append(c.rows, len(features)/2)
	for i := 0; i < len(features); i += 2 {
		if features[i] < 0 {
			return dst, errors.New("a value is negative")
		}
		dst = append(dst, float64(features[i]+features[i+1]))
	}
	return dst, nil
}

// Queries are scored together, in parts of some hundred documents, unless the model compares the documents of a query; an error
// still names the query.
func TestQueriesAreScoredTogetherUnlessDocumentsAreCompared(t *testing.T) {
	d := &Dataset{Name: "d", FeatureIDs: []int{1, 2}, Offsets: []int{0}}
	var want []float64
	for q := range 300 {
		for range q % 5 {
			x := float32(len(want))
			d.Features = append(d.Features, x, 1)
			want = append(want, float64(x+1))
		}
		d.Offsets, d.QueryIDs = append(d.Offsets, len(want)), append(d.QueryIDs, "q"+string(rune('a'+q%26)))
	}
	for compares, calls := range map[bool]int{true: 300, false: 2} {
		m := &counting{compares: compares}
		got, err := Score(m, d)
		if err != nil || !slices.Equal(got, want) || len(m.rows) != calls {
			t.Errorf("compares %t: %d calls, want %d (%v)", compares, len(m.rows), calls, err)
		}
	}
	d.QueryIDs[299] = "bad"
	d.Features[2*d.Offsets[299]] = -1
	if _, err := Score(new(counting), d); err == nil || !strings.Contains(err.Error(), "query bad: a value is negative") {
		t.Error(err)
	}
}
