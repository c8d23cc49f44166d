package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plrank/plrank/train"
)

// Tables fit 80 columns; what is too wide for that is there, too.
func TestTablesFit80Columns(t *testing.T) {
	var w strings.Builder
	rows := []string{"random order", "feature 7, descending", "plrank-rb"}
	columns := []string{"dcg@10", "ndcg@5", "expected-dcg@10", "expected-ndcg@5", "expected-ndcg@10", strings.Repeat("x", 90), "map"}
	PrintTable(&w, rows, columns, func(row int, column string) string { return fmt.Sprintf("%d%s", row, column[:1]) })
	for _, line := range strings.Split(w.String(), "\n") {
		if n := len([]rune(line)); n > 80 && !strings.Contains(line, "xxx") && n != 21+2+90 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	want := "                       dcg@10  ndcg@5  expected-dcg@10  expected-ndcg@5\n" +
		"         random order      0d      0n               0e               0e\n" +
		"feature 7, descending      1d      1n               1e               1e\n" +
		"            plrank-rb      2d      2n               2e               2e\n" +
		"                       expected-ndcg@10\n"
	if !strings.HasPrefix(w.String(), want) {
		t.Errorf("%s\nwant\n%s", &w, want)
	}
	for _, c := range columns {
		if strings.Count(w.String(), c) < 1 {
			t.Errorf("no %s", c)
		}
	}
}

// The note below a report says where the best feature was chosen by a part of the data.
func TestNoteSaysWhichQueriesChoseTheFeature(t *testing.T) {
	for queries, want := range map[int]int{0: 0, 431: 1} {
		var w strings.Builder
		printConvention(&w, &train.Report{Convention: "skip", FeatureQueries: queries, Splits: []train.SplitReport{{Queries: 18919}}})
		if n := strings.Count(w.String(), "The feature was chosen by 431 of the 18919 training queries.\n"); n != want {
			t.Errorf("%d: %s", queries, &w)
		}
	}
}
