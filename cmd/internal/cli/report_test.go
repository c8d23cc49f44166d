package cli

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/plrank/plrank/train"
)

// report is of three splits, with names that are long. The last split has base scores.
func report() *train.Report {
	r := &train.Report{LabelFree: "skip", Metrics: []string{"ndcg@10", "expected-ndcg@10", "loss"}, Loss: "plrank-exact+0.1*softmax"}
	for i, name := range []string{"train", "vali", "test"} {
		s := train.SplitReport{Name: name, Queries: 3, Relevant: 2, Documents: 9, FromClicks: i == 0, Rankers: []string{"random order", "feature " + strings.Repeat("long", 20) + ", descending", r.Loss}}
		s.Rows = []train.Values{{"ndcg@10": .1, "expected-ndcg@10": .1}, {"ndcg@10": .2}, {"ndcg@10": .3, "expected-ndcg@10": .25, "loss": train.Value(-i)}}
		if i == 2 {
			s.Rankers, s.Rows = slices.Insert(s.Rankers, 2, "base scores"), slices.Insert(s.Rows, 2, train.Values{"ndcg@10": .15})
		}
		r.Splits = append(r.Splits, s)
	}
	return r
}

// Metrics go down and splits across, under short names; lines without a value are left out.
func TestReportHasSplitsSideBySide(t *testing.T) {
	t.Setenv("COLUMNS", "")
	var w strings.Builder
	PrintReport(&w, report())
	for _, want := range []string{
		"\ntrain: 3 queries (2 with a relevant document), 9 documents\nvali: 3 ",
		"model: plrank-exact+0.1*softmax\n" +
			"                                train     vali     test\n" +
			"ndcg@10          random order  0.1000   0.1000   0.1000\n" +
			"                 best feature  0.2000   0.2000   0.2000\n" +
			"                 base scores        –        –   0.1500\n" +
			"                 model         0.3000   0.3000   0.3000\n" +
			"expected-ndcg@10 random order  0.1000   0.1000   0.1000\n" +
			"                 model         0.2500   0.2500   0.2500\n" +
			"loss             model         0.0000  -1.0000  -2.0000\n\n",
		"loss is plrank-exact+0.1*softmax, by gains from clicks on train, by labels on\nvali and test.\nLower is better: loss.\n",
	} {
		if !strings.Contains(w.String(), want) {
			t.Errorf("%s\nwant\n%s", &w, want)
		}
	}
	clicks := report()
	for _, s := range clicks.Splits {
		for _, v := range s.Rows {
			delete(v, "ndcg@10")
			delete(v, "expected-ndcg@10")
		}
	}
	w.Reset()
	if PrintReport(&w, clicks); strings.Contains(w.String(), "ndcg") || strings.Contains(w.String(), "-convention") || strings.Contains(w.String(), "expected-") || !strings.Contains(w.String(), "\nloss model  0.0000  -1.0000  -2.0000\n\nloss is ") {
		t.Errorf("of the loss alone: %s", &w)
	}
	one := report()
	one.Splits = one.Splits[1:2]
	w.Reset()
	PrintReport(&w, one)
	want := "                  random order  best feature    model\n" +
		"ndcg@10                 0.1000        0.2000   0.3000\n" +
		"expected-ndcg@10        0.1000             –   0.2500\n" +
		"loss                         –             –  -1.0000\n"
	if !strings.Contains(w.String(), want) {
		t.Errorf("%s\nwant\n%s", &w, want)
	}
}

// What does not fit a line of a table is below, and COLUMNS says what fits; words alone may be longer.
func TestReportFitsColumns(t *testing.T) {
	alike := report()
	alike.Splits[0], alike.Splits[1] = alike.Splits[2], alike.Splits[2]
	alike.Splits[0].Name, alike.Splits[1].Name = "train", "vali"
	folds := SumUpFolds([]int{1, 2, 3, 4, 5}, slices.Repeat([]*train.Report{alike}, 5))
	for _, columns := range []int{50, 60, 80, 120} {
		t.Setenv("COLUMNS", strconv.Itoa(columns))
		var w strings.Builder
		PrintReport(&w, report())
		PrintFolds(&w, folds)
		for line := range strings.Lines(w.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > columns && strings.Contains(line, "  ") {
				t.Errorf("%d columns: %d in %q", columns, n, line)
			}
		}
		if split := strings.Count(w.String(), "  test\n"); split != 2 {
			t.Errorf("%d columns: test is a column of %d tables of 2:\n%s", columns, split, &w)
		}
		if whole := strings.Contains(w.String(), "train             vali             test\n"); whole != (columns >= 80) {
			t.Errorf("%d columns: the table of folds is whole: %t\n%s", columns, whole, &w)
		}
	}
}

// The note below a report says where the best feature was chosen by a part of the data.
func TestNoteSaysWhichQueriesChoseTheFeature(t *testing.T) {
	for queries, want := range map[int]int{0: 0, 431: 1} {
		var w strings.Builder
		printConvention(&w, &train.Report{LabelFree: "skip", FeatureQueries: queries, Splits: []train.SplitReport{{Queries: 18919}}})
		if n := strings.Count(w.String(), "The feature was chosen by 431 of the 18919 training queries.\n"); n != want {
			t.Errorf("%d: %s", queries, &w)
		}
	}
}
