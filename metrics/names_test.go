package metrics

import (
	"math"
	"strings"
	"testing"
)

func TestParseMeasureReadsNamesAndRejectsOthers(t *testing.T) {
	for name, want := range map[string]string{
		"ndcg@5":         "ndcg@5",
		"NDCG@10":        "ndcg@10",
		"dcg":            "dcg",
		"p@5":            "precision@5",
		"precision@5":    "precision@5",
		"rr@10":          "mrr@10",
		"ap":             "map",
		"arp":            "arp",
		"rbp@10":         "rbp@10",
		"rbp(p=0.8)":     "rbp",
		"RBP(p=0.95)@10": "rbp(p=0.95)@10",
		"err(max=2)@3":   "err(max=2)@3",
	} {
		m, err := ParseMeasure(name)
		if err != nil {
			t.Errorf("ParseMeasure(%q): %v", name, err)
			continue
		}
		if m.String() != want {
			t.Errorf("ParseMeasure(%q) is %v, want %v", name, m, want)
		}
		if again, err := ParseMeasure(m.String()); err != nil || again.String() != m.String() || again.metric != m.metric {
			t.Errorf("ParseMeasure(%q) is %v, %v: not the metric that gave the name", m, again, err)
		}
	}
	for name, want := range map[string]string{
		"":                          "is not a metric's name",
		"ndcg@":                     "is not a metric's name",
		"ndcg@-5":                   "is not a metric's name",
		"ndcg@5-":                   "is not a metric's name",
		"ndcg@0":                    "the cutoff must be a rank",
		"ndcg@99999999999999999999": "the cutoff must be a rank",
		"accuracy@5":                "the nearest of 24 are pair-accuracy, ",
		"ndcg(p=1)@5":               `no parameter "p"`,
		"rbp(p=1)":                  "p must be a persistence between 0 and 1",
		"rbp(p=NaN)":                "p must be a persistence between 0 and 1",
		"err(max=x)@5":              "max must be a label above 0, up to 31",
		"err(max=99)@5":             "max must be a label above 0, up to 31",
	} {
		if m, err := ParseMeasure(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseMeasure(%q) is %v, %v; want an error with %q", name, m, err, want)
		}
	}
}

func TestExp2GainIsTwoToTheLabelMinusOne(t *testing.T) {
	for grade := float32(0); grade <= maxExp2Label; grade += 0.25 {
		if got, err := Exp2Gain.Of(grade); err != nil || got != math.Exp2(float64(grade))-1 {
			t.Errorf("the gain of %v is %v, %v", grade, got, err)
		}
	}
}

func TestSettingsAreReadAsTheyAreWritten(t *testing.T) {
	for _, g := range []Gain{Exp2Gain, LinearGain, BinaryGain} {
		if got, err := ParseGain(g.String()); err != nil || got != g {
			t.Errorf("ParseGain(%q) is %v, %v", g, got, err)
		}
	}
	for _, l := range []LabelFree{LabelFreeZero, LabelFreeOne, LabelFreeSkip, LETOR4} {
		if got, err := ParseLabelFree(l.String()); err != nil || got != l {
			t.Errorf("ParseLabelFree(%q) is %v, %v", l, got, err)
		}
	}
	if _, err := ParseGain("log"); err == nil || !strings.Contains(err.Error(), "exp2, linear, binary") {
		t.Errorf("ParseGain(log): %v", err)
	}
	if _, err := ParseLabelFree("drop"); err == nil || !strings.Contains(err.Error(), "zero, one, skip, letor4") {
		t.Errorf("ParseLabelFree(drop): %v", err)
	}
}
