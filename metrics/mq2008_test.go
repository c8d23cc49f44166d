package metrics

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// readFeature reads one feature of a LETOR file as the scores.
func readFeature(t *testing.T, path, feature string) Input {
	t.Helper()
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		t.Skipf("MQ2008 is not here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var (
		l    Input
		last string
	)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		label, err := strconv.ParseFloat(fields[0], 32)
		if err != nil {
			t.Fatal(err)
		}
		if query := fields[1]; query != last {
			l.Offsets = append(l.Offsets, len(l.Scores))
			last = query
		}
		score := math.NaN()
		for _, field := range fields[2:] {
			if value, found := strings.CutPrefix(field, feature+":"); found {
				if score, err = strconv.ParseFloat(value, 64); err != nil {
					t.Fatal(err)
				}
			}
		}
		l.Labels = append(l.Labels, float32(label))
		l.Scores = append(l.Scores, score)
	}
	l.Offsets = append(l.Offsets, len(l.Scores))
	return l
}

// The five test folds of MQ2008 ranked by feature 39 alone, ties in file order.
// The figures of LETOR's convention are those of its evaluation script
// (Eval-Score-4.0.pl) on these scores, which prints four digits for each fold; all
// are means of the folds.
func TestMQ2008(t *testing.T) {
	var folds []Input
	for fold := 1; fold <= 5; fold++ {
		folds = append(folds, readFeature(t, fmt.Sprintf("../../shared/data/MQ2008/Fold%d/test.txt", fold), "39"))
	}
	for _, c := range []struct {
		metric     string
		convention Convention
		want       float64
	}{
		{"ndcg@1", LETOR4, .3524},
		{"ndcg@3", LETOR4, .4283},
		{"ndcg@5", LETOR4, .4683},
		{"ndcg@10", LETOR4, .2233},
		{"map", LETOR4, .4712},
		{"letor4-meanndcg", LETOR4, .48306},
		{"precision@1", LETOR4, .41956},
		{"precision@10", LETOR4, .24562},
		{"ndcg@10", LabelFreeZero, .4954},
		{"ndcg@10", LabelFreeOne, .7761},
		{"ndcg@10", LabelFreeSkip, .6871},
	} {
		sum := 0.0
		for _, l := range folds {
			l.Convention, l.Ties = c.convention, TiesOrder
			perQuery, err := mustParse(t, c.metric).PerQuery(l)
			if err != nil {
				t.Fatal(err)
			}
			sum += Mean(perQuery, c.convention)
		}
		if got := sum / float64(len(folds)); math.Abs(got-c.want) > .00005 {
			t.Errorf("%s, convention %v: %.6f, want %.5f", c.metric, c.convention, got, c.want)
		}
	}
}
