package metrics

import (
	"strings"
	"testing"
)

// But for ERR with a grade in its name.
func TestERRAndGradedRBPNeedTheHighestGrade(t *testing.T) {
	for name, want := range map[string]bool{
		"err": true, "expected-err@10": true, "graded-rbp(0.9)@5": true, "err(max=4)": false, "ndcg@5": false, "rbp": false, "disparity": false,
	} {
		if got := mustParse(t, name).NeedsGrade(); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if NewMeasure("custom", false, nil).NeedsGrade() {
		t.Error("a custom measure needs a grade")
	}
}

// The error of a label above the highest grade names a measure, also if both are below 1.
func TestMeasureProposedForAHigherGradeCanBeRead(t *testing.T) {
	in := Queries{Scores: []float64{1, 0}, Labels: []float32{0.75, 0}, HighestGrade: 0.5}
	_, err := mustParse(t, "err@5").PerQuery(in)
	if err == nil || !strings.Contains(err.Error(), "use err(max=0.75)@5") {
		t.Fatalf("error %v", err)
	}
	if _, err := mustParse(t, "err(max=0.75)@5").PerQuery(in); err != nil {
		t.Error(err)
	}
}
