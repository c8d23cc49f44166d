package ranker

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
)

// A model file knows its training queries, and those alone.
func TestTrainedOnCountsTrainingQueries(t *testing.T) {
	d := queries(3, 4, 5, 1, 6)
	f := network(t, "standard", "float32", d, 1, 4)
	digests := d.QueryDigests(f.Transform.Used())
	f.TrainingQueries = NewQueryDigests(digests[1], digests[0], digests[1], 0)
	m := reopen(t, f)
	for _, c := range []struct {
		d    *datasets.Dataset
		want int
	}{{d, 2}, {d.Select([]int{3, 1, 2}), 1}, {d.Select([]int{3}), 0}} {
		if got, err := m.TrainedOn(c.d); got != c.want || err != nil {
			t.Errorf("queries %v: %d (%v), want %d", c.d.QueryIDs, got, err, c.want)
		}
	}
	other := *d
	other.FeatureIDs = []int{1, 2, 77}
	if _, err := m.TrainedOn(&other); err == nil || !strings.Contains(err.Error(), "feature ids") {
		t.Errorf("error %v", err)
	}
	f.TrainingQueries = nil // as in files of older versions
	var b bytes.Buffer
	if err := f.Write(&b); err != nil || bytes.Contains(b.Bytes(), []byte("trainingQueries")) {
		t.Error("a file without digests names them", err)
	}
	if got, err := reopen(t, f).TrainedOn(d); got != 0 || err != nil {
		t.Errorf("%d queries (%v) of a file that does not say", got, err)
	}
}

func TestQueryDigestsAscend(t *testing.T) {
	if got := NewQueryDigests(5, 0, 1<<63, 2, 5); !slices.Equal(got, QueryDigests{2, 5, 1 << 63}) || got.Count([]uint64{5, 5, 3, 0}) != 2 {
		t.Errorf("digests %x", got)
	}
	for want, of := range map[string][]byte{
		"take 9 bytes": make([]byte, 9), "do not ascend": make([]byte, 16),
	} {
		data := crafted(t, map[string]any{"trainingQueries": of})
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
