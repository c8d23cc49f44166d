package worth

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestRankingsBecomeQueries(t *testing.T) {
	nan := float32(math.NaN())
	f := &ItemFeatures{[]string{"a", "b", "c", "d, e"}, []string{"mass", "speed"}, []float32{1, .5, 2, nan, 3, nan, 4, -1000}}
	r, err := Read(strings.NewReader("c > a > b\n2.5: \"d, e\" | a, c\n"), "x", ReadOptions{Items: f.Items})
	if err != nil {
		t.Fatal(err)
	}
	d, err := f.Dataset(r)
	if err != nil {
		t.Fatal(err)
	}
	// Items of a ranking stand in the order of the table, which tells nothing of their places.
	want := "[1 0.5 2 NaN 3 NaN 1 0.5 3 NaN 4 -1000] [0.6666666 0.3333333 1 0 0 1] [0 3 6] [1 2.5] [a b c a c d, e] [mass speed] [1 2]"
	if got := fmt.Sprint(d.Features, d.Labels, d.Offsets, d.QueryWeights, d.DocumentIDs, d.FeatureNames, d.FeatureIDs); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Labels of a long ranking are different numbers, which descend to one above 0.
func TestLabelsOfLongRankingsFall(t *testing.T) {
	const n = 20_000
	f := &ItemFeatures{Items: numbered(n)}
	r := &Observations{Items: f.Items}
	places := make([][]int, n)
	for i := range places {
		places[i] = []int{i}
	}
	mustAdd(t, r, Ranking{Places: places})
	d, err := f.Dataset(r)
	if err != nil {
		t.Fatal(err)
	}
	gains := make([]float32, n)
	for i, label := range d.Labels {
		gains[i] = float32(math.Exp2(float64(label)) - 1)
	}
	slices.Reverse(gains)
	if !slices.IsSorted(gains) || len(slices.Compact(gains)) != n || gains[0] <= 0 {
		t.Error("labels do not tell places apart")
	}
}

func TestOtherItemsAndTiesAreNoQueries(t *testing.T) {
	f := &ItemFeatures{Items: []string{"a", "b"}, Names: []string{"x"}, Values: []float32{1, 2}}
	for text, want := range map[string]string{"a > b\na = b\n": "ranking 2 has a tie, a = b", "a > b\n1e39: b > a\n": "ranking 2 has the weight 1e+39", "b > a": "different items"} {
		if _, err := f.Dataset(mustRead(t, text, "x")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error with %q", text, err, want)
		}
	}
	f.Names = []string{"x", "y"}
	if _, err := f.Dataset(mustRead(t, "a > b", "x")); err == nil {
		t.Error("values that are missing are no error")
	}
}
