package metrics

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// Σ_k θ_k ρ_{y_k} of one ranking with the labels 2, 0, 1, 0, 3 and a cutoff of 3.
func TestObjectivesAreTheirMetrics(t *testing.T) {
	labels := []float64{2, 0, 1, 0, 3}
	for name, c := range map[string]struct {
		discounts string
		gain      func(label float64) float64
		want      float64
		norm      float64 // of the best ranking 3, 2, 1, 0, 0; of arp the sum of the labels
	}{
		"DCG@3":       {"dcg", func(l float64) float64 { return math.Exp2(l) - 1 }, 3 + 1./2, 7 + 3/math.Log2(3) + 1./2},
		"precision@3": {"precision", func(l float64) float64 { return min(l, 1) }, 2. / 3, 1},
		"RBP@3":       {"rbp(0.8)", func(l float64) float64 { return min(l, 1) }, .2 * (1 + .64), .2 * (1 + .8 + .64)},
		// The label-weighted mean of the ranks 1, 3 and, for the one beyond, 4.
		"6·(4 − ARP@3)": {"arp", func(l float64) float64 { return l }, 6 * (4 - (2.*1+1*3+3*4)/6), 2 + 1 + 3},
		"numbers":       {"1, 0.5, 0.25", func(l float64) float64 { return l }, 2 + .25, 3 + 2*.5 + .25},
	} {
		o, err := ParseDiscounts(c.discounts, 3)
		if err != nil {
			t.Fatal(err)
		}
		sum, gains := 0.0, make([]float64, len(labels))
		for d, label := range labels {
			gains[d] = c.gain(label)
		}
		for k, theta := range o.Discounts {
			sum += theta * gains[k]
		}
		if math.Abs(sum-c.want) > 1e-15 {
			t.Errorf("%s: %v, want %v", name, sum, c.want)
		}
		if norm := o.Norm(gains); math.Abs(norm-c.norm) > 1e-14 {
			t.Errorf("%s: the norm is %v, want %v", name, norm, c.norm)
		}
	}
}

func TestParseDiscountsRejectsOtherText(t *testing.T) {
	for text, want := range map[string]string{
		"ndcg":     `number 1, "ndcg": want dcg, precision, arp, rbp`,
		"":         `number 1, ""`,
		"1,x,2":    `number 2, "x"`,
		"1,NaN,2":  `number 2, "NaN"`,
		"1,2":      "2 numbers for a cutoff of 3",
		"rbp(1)":   "want a persistence between 0 and 1",
		"rbp(0.5":  "want a persistence between 0 and 1",
		"rbp(NaN)": "want a persistence between 0 and 1",
		"rbp(2)@3": "want a persistence between 0 and 1",
		"0,-0,0":   "all are 0",
		"dcg(2)":   "dcg has no parameter",
	} {
		if _, err := ParseDiscounts(text, 3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
	if _, err := ParseDiscounts("dcg", -1); err == nil {
		t.Error("no error for a cutoff of -1")
	}
}

// Where every rank counts, discounts equal the discounts of a cutoff at the number of documents.
func TestDiscountsOfEveryRankFollowTheList(t *testing.T) {
	for text, metric := range map[string]string{"dcg": "dcg", "rbp(0.9)": "rbp(p=0.9)", "arp": "arp"} {
		o, err := ParseDiscounts(text, 0)
		if err != nil || o.Metric != metric || len(o.Discounts) > 0 {
			t.Fatalf("%s: %+v, %v", text, o, err)
		}
		for _, documents := range []int{7, 3} {
			want, err := ParseDiscounts(text, documents)
			if err != nil {
				t.Fatal(err)
			}
			if o = o.Over(documents); !slices.Equal(o.Discounts, want.Discounts) || o.Norm([]float64{1, 2}) != want.Norm([]float64{1, 2}) {
				t.Errorf("%s over %d documents: %v, want %v", text, documents, o.Discounts, want.Discounts)
			}
			if got := want.Over(100); !slices.Equal(got.Discounts, want.Discounts) {
				t.Errorf("%s with a cutoff of %d: %d discounts over 100 documents", text, documents, len(got.Discounts))
			}
		}
	}
	for text, want := range map[string]string{
		"precision": `discounts "precision": it counts all ranks alike`,
		"1,0.5,0.2": `discounts "1,0.5,0.2": 3 numbers where every rank counts: want a cutoff of 3`,
	} {
		if _, err := ParseDiscounts(text, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
}

func TestParseMeasureReadsTheMetricOfAnObjective(t *testing.T) {
	for text, want := range map[string]string{
		" DCG ": "dcg@2", "precision": "precision@2", "arp": "arp@2", "rbp": "rbp@2", "rbp( p = 0.5 )": "rbp(p=0.5)@2", "1,0": "",
	} {
		o, err := ParseDiscounts(text, 2)
		if err != nil || o.Metric != want || len(o.Discounts) != 2 {
			t.Errorf("%q: %+v, %v; want %q", text, o, err, want)
		}
		if want == "" {
			continue
		}
		if m := mustParse(t, o.Metric); m.String() != want {
			t.Errorf("ParseMeasure(%q) is %v", o.Metric, m)
		}
	}
	if d := Discounts(-1); len(d) != 0 {
		t.Errorf("-1 discounts: %v", d)
	}
}
