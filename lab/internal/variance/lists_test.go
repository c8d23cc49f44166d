package variance

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
)

func TestNormalHasTheGivenDeviationAndLabels(t *testing.T) {
	lists := Normal(200, 100, 2, 7)
	var scores []float64
	labels := map[float64]float64{}
	for _, l := range lists {
		scores = append(scores, l.Scores...)
		for _, g := range l.Gains {
			labels[math.Log2(g+1)] += 1. / 20000
		}
	}
	// Standard errors are 2/√20000 = .014 of the mean, 1/√40000 of it of the standard
	// deviation, and at most .0035 of a frequency.
	if m, sd := stat.MeanStdDev(scores, nil); math.Abs(m) > 0.06 || math.Abs(sd-2) > 0.04 {
		t.Errorf("mean %v, standard deviation %v", m, sd)
	}
	for label, want := range []float64{.515, .325, .134, .018, .008} {
		if math.Abs(labels[float64(label)]-want) > 0.015*math.Sqrt(want) {
			t.Errorf("label %d: frequency %v, want %v", label, labels[float64(label)], want)
		}
	}
	if len(labels) != 5 {
		t.Errorf("labels %v", labels)
	}
	if again := Normal(200, 100, 2, 7); !reflect.DeepEqual(again, lists) {
		t.Error("the same arguments, other lists")
	}
	if slices.Equal(lists[0].Scores, lists[1].Scores) || slices.Equal(lists[0].Scores, Normal(1, 100, 2, 8)[0].Scores) {
		t.Error("lists and seeds have the same scores")
	}
}

func TestShuffleAndHead(t *testing.T) {
	lists := Normal(30, 20, 1, 1)
	shuffled := Shuffle(lists, 2)
	first := map[float64]bool{}
	for i, l := range lists {
		gain := map[float64]float64{} // by score
		for d, s := range l.Scores {
			gain[s] = l.Gains[d]
		}
		if len(shuffled[i].Scores) != 20 || slices.Equal(shuffled[i].Scores, l.Scores) {
			t.Fatalf("list %d: %v", i, shuffled[i].Scores)
		}
		for d, s := range shuffled[i].Scores {
			if g, ok := gain[s]; !ok || g != shuffled[i].Gains[d] {
				t.Fatalf("list %d: score %v with gain %v, was %v", i, s, shuffled[i].Gains[d], g)
			}
			delete(gain, s) // not twice
		}
		first[float64(slices.Index(l.Scores, shuffled[i].Scores[0]))] = true
	}
	if len(first) < 5 {
		t.Errorf("all lists are put in about the same order: %v", first)
	}
	for _, n := range []int{0, 5, 20, 21} {
		for i, head := range Head(shuffled, n) {
			want := shuffled[i].Scores[:min(n, 20)]
			if !slices.Equal(head.Scores, want) || len(head.Gains) != len(want) {
				t.Errorf("the first %d of list %d are %v", n, i, head.Scores)
			}
		}
	}
}
