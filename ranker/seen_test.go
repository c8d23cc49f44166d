package ranker

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/npzfile"
)

// A model file knows its training queries, and those alone.
func TestTrainedOnCountsTrainingQueries(t *testing.T) {
	d := queries(3, 4, 5, 1, 6)
	f := network(t, "standard", "float32", d, 1, 4)
	digests := d.QueryDigests()
	f.TrainingQueries = NewQueryDigests(digests[1], digests[0], digests[1], 0)
	m := reopen(t, f)
	for _, c := range []struct {
		d    *datasets.Dataset
		want int
	}{{d, 2}, {d.Select([]int{3, 1, 2}), 1}, {d.Select([]int{3}), 0}, {d.Select([]int{2}), 0}} {
		if got := c.d.CountSeen(m.Seen); got != c.want {
			t.Errorf("queries %v: %d, want %d", c.d.QueryIDs, got, c.want)
		}
	}
	f.TrainingQueries = nil // as in files of older versions
	var b bytes.Buffer
	if err := f.Write(&b); err != nil || bytes.Contains(b.Bytes(), []byte("queryDigests")) {
		t.Error("a file without digests names them", err)
	}
	if got := d.CountSeen(reopen(t, f).Seen); got != 0 {
		t.Errorf("%d queries of a file that does not say", got)
	}
}

func TestQueryDigestsAscend(t *testing.T) {
	if got := NewQueryDigests(5, 0, 1<<63, 2, 5); !slices.Equal(got, QueryDigests{2, 5, 1 << 63}) || got.Count([]uint64{5, 5, 3, 0}) != 2 {
		t.Errorf("digests %x", got)
	}
	for want, content := range map[string][]byte{
		"take 9 bytes": make([]byte, 9), "do not ascend": make([]byte, 16),
	} {
		data := crafted(t, map[string]any{"queryDigests": content})
		if _, err := Read(bytes.NewReader(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	f := example()
	f.TrainingQueries = QueryDigests{3, 2}
	if err := f.Write(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "do not ascend") {
		t.Errorf("error %v", err)
	}
}

// Digests of older versions are by the features in use alone: where these are all, they are what they are today;
// else they say nothing.
func TestDigestsOfOlderVersionsCountIfTheyAreOfAllFeatures(t *testing.T) {
	old := map[string]any{"trainingQueries": QueryDigests{2, 5}}
	weights := []npzfile.Array{{Name: "w0", Shape: []int{1, 1}, Data: []float64{1}}, {Name: "b0", Shape: []int{1}, Data: []float64{0}}}
	f, err := decode("old", crafted(t, old, weights...))
	if err != nil || !slices.Equal(f.TrainingQueries, QueryDigests{2, 5}) {
		t.Errorf("%v, error %v", f, err)
	}
	old["featureIDs"] = []int{1, 2}
	old["transform"] = map[string]any{"Spec": "none", "Inputs": 2, "Columns": []int{1}, "Parts": []any{map[string]any{"Name": "none"}}}
	if f, err = decode("old", crafted(t, old, weights...)); err != nil || f.TrainingQueries != nil {
		t.Errorf("%v, error %v", f, err)
	}
	old["queryDigests"] = QueryDigests{3}
	if f, err = decode("new", crafted(t, old, weights...)); err != nil || !slices.Equal(f.TrainingQueries, QueryDigests{3}) {
		t.Errorf("%v, error %v", f, err)
	}
}
