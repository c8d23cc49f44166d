package metrics

import (
	"strings"
	"testing"
)

// ERR without a grade of its own, and graded RBP, go by the highest grade of the data set.
func TestNeedsGrade(t *testing.T) {
	for name, want := range map[string]bool{
		"err": true, "expected-err@10": true, "graded-rbp(0.9)@5": true, "err(max=4)": false, "ndcg@5": false, "rbp": false, "disparity": false,
	} {
		if got := mustParse(t, name).NeedsGrade(); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if NewMeasure("own", false, nil).NeedsGrade() {
		t.Error("a measure of one's own needs a grade")
	}
}

// A label above the highest grade is an error that names a measure which can be read, also
// where both are below 1.
func TestHigherGradeThatIsProposedCanBeRead(t *testing.T) {
	in := Input{Scores: []float64{1, 0}, Labels: []float32{0.75, 0}, HighestGrade: 0.5}
	_, err := mustParse(t, "err@5").PerQuery(in)
	if err == nil || !strings.Contains(err.Error(), "use err(max=0.75)@5") {
		t.Fatalf("error %v", err)
	}
	if _, err := mustParse(t, "err(max=0.75)@5").PerQuery(in); err != nil {
		t.Error(err)
	}
}
