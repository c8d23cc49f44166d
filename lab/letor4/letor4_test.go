//go:build data

// Package letor4 compares package metrics with LETOR 4.0's own evaluation script on MQ2008, which cannot be passed on:
//
//	PLRANK_MQ2008=DIR go test -tags data ./letor4
//
// DIR has the folders Fold1 to Fold5.
package letor4

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/plrank/plrank/metrics"
)

// readFeature reads one feature of a LETOR file as the scores.
func readFeature(t *testing.T, path, feature string) metrics.Queries {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var (
		l    metrics.Queries
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
// The figures of LETOR's convention equal the figures of its evaluation script
// (Eval-Score-4.0.pl) on these scores, which prints four digits for each fold; all
// are means of the folds.
func TestMetricsAgreeWithLETOR4(t *testing.T) {
	var folds []metrics.Queries
	for fold := 1; fold <= 5; fold++ {
		folds = append(folds, readFeature(t, fmt.Sprintf("%s/Fold%d/test.txt", os.Getenv("PLRANK_MQ2008"), fold), "39"))
	}
	for _, c := range []struct {
		metric     string
		convention metrics.LabelFree
		want       float64
	}{
		{"ndcg@1", metrics.LETOR4, .3524},
		{"ndcg@3", metrics.LETOR4, .4283},
		{"ndcg@5", metrics.LETOR4, .4683},
		{"ndcg@10", metrics.LETOR4, .2233},
		{"map", metrics.LETOR4, .4712},
		{"precision@1", metrics.LETOR4, .41956},
		{"precision@10", metrics.LETOR4, .24562},
		{"ndcg@10", metrics.LabelFreeZero, .4954},
		{"ndcg@10", metrics.LabelFreeOne, .7761},
		{"ndcg@10", metrics.LabelFreeSkip, .6871},
	} {
		measure, err := metrics.ParseMeasure(c.metric)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, l := range folds {
			l.LabelFree, l.Ties = c.convention, metrics.TiesOrder
			perQuery, err := measure.PerQuery(l)
			if err != nil {
				t.Fatal(err)
			}
			sum += metrics.Mean(perQuery, c.convention)
		}
		if got := sum / float64(len(folds)); math.Abs(got-c.want) > .00005 {
			t.Errorf("%s, convention %v: %.6f, want %.5f", c.metric, c.convention, got, c.want)
		}
	}
}
