package cli

import (
	"math"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/train"
)

// suspects is 15 queries of 4 documents with a feature for each of some functions of row and query.
func suspects(names []string, values ...func(row, query int) float64) *datasets.Dataset {
	d := &datasets.Dataset{Name: "shop", Offsets: []int{0}, FeatureNames: names}
	for i := range values {
		d.FeatureIDs = append(d.FeatureIDs, i+1)
	}
	for q := range 15 {
		for r := 4 * q; r < 4*q+4; r++ {
			d.Labels = append(d.Labels, float32(r%2))
			for _, value := range values {
				d.Features = append(d.Features, float32(value(r, q)))
			}
		}
		d.Offsets = append(d.Offsets, len(d.Labels))
	}
	return d
}

func TestSuspiciousFeaturesAreNamedByTheirNames(t *testing.T) {
	plain := func(row, _ int) float64 { return float64(row%5) / 4 }
	for name, want := range map[string]string{
		"clicked": "leak", "was_clicked": "leak", "isPurchased": "leak", "Position": "leak", "clicks": "leak", "is_click": "leak", "pos": "leak", "rank": "leak",
		"page_rank": "", "clicks_30d": "", "composition": "", "possible": "", "ctr": "", "price": "",
		"product_id": "ids", "userId": "ids", "SKU": "ids", "idf": "", "width": "", "paid": "", "liquid": "",
	} {
		warnings := strings.Join(Suspicions(suspects([]string{name}, plain)), "\n")
		if want == "" && warnings != "" || !strings.Contains(warnings, want) || want != "" && !strings.Contains(warnings, ": "+name+" (") {
			t.Errorf("%s: %q, want %q", name, warnings, want)
		}
	}
}

func TestIdsAndTimesAreNamedByTheirValues(t *testing.T) {
	for want, value := range map[string]func(row, query int) float64{
		"ids":     func(row, _ int) float64 { return float64(row*7919%1000 + 1) }, // 60 of them
		"times":   func(row, _ int) float64 { return 1.7e9 + 1e5*float64(row) },
		"times, ": func(row, _ int) float64 { return 1.7e12 + 1e9*float64(row%3) },
		"times,":  func(_, query int) float64 { return float64(20240131 + 100*(query%11)) },
		"":        func(row, _ int) float64 { return float64(row * 7919 % 59) }, // two are equal
		" ":       func(row, _ int) float64 { return math.Sqrt(float64(row)) },
	} {
		warnings := strings.Join(Suspicions(suspects([]string{"x"}, value)), "\n")
		if (warnings == "") != (strings.TrimSpace(want) == "") || !strings.Contains(warnings, strings.TrimSpace(want)) {
			t.Errorf("%q, want %q", warnings, want)
		}
	}
}

// A feature that has 44 of the 45 neighbours of different labels in their order, or in the reverse, is named; one that has 39 is not: its
// gain over random order is (39 − 6)/45.
func TestNearlyPerfectFeaturesAreNamed(t *testing.T) {
	for wrong, want := range map[int]bool{0: true, 1: true, 6: false} {
		for _, sign := range []float64{1, -1} {
			w := Suspicions(suspects([]string{"x"}, func(row, query int) float64 {
				if row%2 == 1 && row%4 == 3 && query < wrong { // the last of its query
					return -sign
				}
				return sign * float64(row%2)
			}))
			if named := len(w) == 1 && strings.Contains(w[0], "possible leak: x ("); named != want {
				t.Errorf("%d pairs in the other order: %q", wrong, w)
			}
		}
	}
}

// Labels that are equal within each query leave every ranking perfect.
func TestEqualLabelsAreAWarning(t *testing.T) {
	d := suspects([]string{"x"}, func(int, int) float64 { return 1 })
	for r := range d.Labels {
		d.Labels[r] = 1 + float32(r/4%2)
	}
	if w := Suspicions(d); len(w) != 1 || !strings.Contains(w[0], "no query has documents of two labels") {
		t.Errorf("%q", w)
	}
	if w := EqualLabels(nil); w != nil {
		t.Errorf("of a split that there is not: %q", w)
	}
}

// Random order has .2 and the model .7: a feature with .675 or more gains 95 % of that.
func TestFeatureThatIsAlmostTheModelIsALeak(t *testing.T) {
	for alone, want := range map[train.Value]bool{.68: true, .67: false, .9: true, .2: false} {
		s := &RunSummary{bySplit: newBySplit[train.Values]()}
		s.add("vali", []string{"random order", "feature x, descending", "model"}, []train.Values{{"ndcg@5": .2}, {"ndcg@5": alone}, {"ndcg@5": .7}})
		if got := s.SuspiciousFeature("expected-ndcg@5"); (len(got) == 1) != want || want && !strings.HasPrefix(got[0], "feature x, descending alone has ndcg@5 0.") {
			t.Errorf("%v: %q", alone, got)
		}
	}
}
