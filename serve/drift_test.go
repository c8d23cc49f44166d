package serve

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/ranker"
)

// The metrics name the feature that moved, and its missing values; a new model has none until it has been asked as often.
func TestMetricsNameTheFeatureThatMoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	testkit.LinearModel(t, path, 1, 10, 100)
	s, _ := tested(t, Options{Models: only(path)})
	f := *s.models["default"].model.Load().File()
	random := rand.New(rand.NewPCG(1, 2))
	rows, offsets := []float32{}, []int{0}
	for q := range 2000 {
		rows, offsets = append(rows, random.Float32(), random.Float32(), random.Float32()), append(offsets, q+1)
	}
	f.Reference = ranker.NewReference([]bool{true, true, true}, nil, func(q int) []float32 { return rows[3*q : 3*q+3] }, offsets)
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	for i := range driftEvery {
		missing := fmt.Sprint(random.Float32())
		if i%2 == 0 {
			missing = "null"
		}
		if w := send(s, "/v1/rank", fmt.Sprintf(`{"documents": [[%v, %v, %s]]}`, random.Float32(), 1.5*random.Float32(), missing)); w.Code != 200 {
			t.Fatal(w.Body)
		}
	}
	text := metricsOf(s)
	for want, is := range map[string]bool{
		`plrank_drift_since_timestamp_seconds{feature="5",model="default"} `: true, `plrank_drift_since_timestamp_seconds{feature="9",model="default"} `: true,
		`plrank_drift_since_timestamp_seconds{feature="1"`: false, `plrank_drift_index{feature="1",model="default"} 0.0`: true,
		`plrank_missing_ratio{feature="9",model="default"} 0.5` + "\n": true,
	} {
		if strings.Contains(text, want) != is {
			t.Errorf("%s: %t\n%s", want, is, text)
		}
	}
	f.Gain = "identity"
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	if text := metricsOf(s); strings.Contains(text, "plrank_drift_index{") {
		t.Error(text)
	}
}
