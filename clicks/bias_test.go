package clicks

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/datasets"
)

// A log of every ranking, with the clicks that are expected times the probability of the
// ranking, has the bias of the users exactly: the sums are expectations.
func TestHarvestIsExactInExpectation(t *testing.T) {
	want := Bias{Alpha: []float64{1, .6, .3}}
	clicks := func(relevance []float64) []float64 {
		c := make([]float64, len(relevance))
		for k, r := range relevance {
			c[k] = want.Alpha[k] * r
		}
		return c
	}
	log := &Log{}
	for _, l := range smallLists(clicks) {
		forEachRanking(t, l, func(im Impression, p float64) {
			for k := range im.Clicks {
				im.Clicks[k] *= p
			}
			log.Impressions = append(log.Impressions, im)
		})
	}
	for _, m := range []Method{Harvest, AllPairs} {
		got, report, err := EstimateBias(log, m)
		if err != nil {
			t.Fatal(err)
		}
		for k, a := range got.Alpha {
			if math.Abs(a-want.Alpha[k]) > 1e-12 {
				t.Errorf("%s: α_%d is %v, want %v", m, k+1, a, want.Alpha[k])
			}
		}
		if !reflect.DeepEqual(report.Connected, [][]int{{1, 2, 3}}) || report.Impressions != 48 || math.Abs(report.Overlap[1][1]-1) > 1e-12 {
			t.Errorf("%s: report %+v", m, report)
		}
	}
}

// once returns queries of documents with random relevance, as labels of 0 and 1 and as a feature.
func once(queries, documents int) *datasets.Dataset {
	d := fifty(documents)
	var many []int
	for i := range queries {
		many = append(many, i%50)
	}
	d = d.Select(many)
	for q := range d.QueryIDs {
		d.QueryIDs[q] += "/" + string(rune('a'+q/50%26)) + string(rune('a'+q/1300))
	}
	return d
}

// linearly is attraction that a regression on the feature can find.
func linearly(label float32) float64 { return .1 + .2*float64(label) }

// Every query is seen about once, by users of Baidu's θ (Hager et al., SIGIR 2024, all pairs).
func TestBiasIsFoundWhereQueriesAreSeenOnce(t *testing.T) {
	want := []float64{1, .674, .414}
	d := once(8000, 8)
	log, err := Simulate(d, Logger{Scores: byFeature(.3), Cutoff: 3}, User{Behaviour: PositionBased(want), Attraction: linearly}, 8000, 1)
	if err != nil {
		t.Fatal(err)
	}
	for method, within := range map[Method]float64{Harvest: .08, AllPairs: .08, RegressionEM: .12} {
		got, _, err := EstimateBias(log, method)
		if err != nil {
			t.Fatal(err)
		}
		for k, a := range got.Alpha {
			if math.Abs(a/want[k]-1) > within {
				t.Errorf("%s: α_%d is %v, want %v", method, k+1, a, want[k])
			}
		}
	}
}

func TestEMFindsBiasWithoutScoresAndFeatures(t *testing.T) {
	want := []float64{1, .6, .4, .2}
	log, err := Simulate(fifty(6), Logger{Cutoff: 4}, User{Behaviour: PositionBased(want), Attraction: linearly}, 10000, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range log.Impressions {
		log.Impressions[i].Scores, log.Impressions[i].Features = nil, nil
	}
	got, report, err := EstimateBias(log, RegressionEM)
	if err != nil {
		t.Fatal(err)
	}
	for k, a := range got.Alpha {
		if math.Abs(a/want[k]-1) > .08 {
			t.Errorf("α_%d is %v, want %v", k+1, a, want[k])
		}
	}
	if report.Iterations == 0 || report.Overlap != nil {
		t.Errorf("report %+v", report)
	}
}

// Without clicks at rank 1 nothing tells the scale of the bias, and em that ends early says so.
func TestEMSaysWhatItDoesNotFind(t *testing.T) {
	ranked := func(n int, top, second float64) *Log {
		l := &Log{}
		for i := range n { // by turns, a and b are on top; one of two has clicks at rank 1, one of four at rank 2
			clicks := []float64{0, 0}
			if i%4 < 2 {
				clicks[0] = top
			}
			if i%8 < 2 {
				clicks[1] = second
			}
			l.Impressions = append(l.Impressions, Impression{Query: "q", Documents: []string{"a", "b"}, Shown: []int{i % 2, 1 - i%2}, Clicks: clicks})
		}
		return l
	}
	for _, second := range []float64{0, 1} {
		if b, _, err := EstimateBias(ranked(40, 0, second), RegressionEM); err == nil || !strings.Contains(err.Error(), "no clicks at rank 1") {
			t.Errorf("%+v, error %v", b, err)
		}
	}
	for n, unsettled := range map[int]bool{40: false, 400: true} { // with more clicks, the prior settles less
		_, report, err := EstimateBias(ranked(n, 1, 1), RegressionEM)
		if err != nil || report.Unsettled != unsettled || unsettled != (report.Iterations == mostIterations) {
			t.Errorf("%+v, error %v", report, err)
		}
	}
}

// Overlap is of the impressions that reach both ranks: a policy of equal scores has 1 everywhere, on
// lists of any size.
func TestOverlapIsOfRankingsThatReachBothRanks(t *testing.T) {
	log := &Log{}
	for i := range 10 {
		short := Impression{Query: "short", Documents: []string{"a", "b"}, Scores: make([]float64, 2), Shown: []int{i % 2, 1 - i%2}, Clicks: []float64{1, 1}}
		long := Impression{Query: "long", Documents: []string{"c", "d", "e"}, Scores: make([]float64, 3), Shown: []int{i % 3, (i + 1) % 3, (i + 2) % 3}, Clicks: []float64{1, 1, 1}}
		log.Impressions = append(log.Impressions, short, long)
	}
	_, report, err := EstimateBias(log, AllPairs)
	if err != nil {
		t.Fatal(err)
	}
	for k, row := range report.Overlap {
		for j, o := range row {
			if math.Abs(o-1) > 1e-12 {
				t.Errorf("the overlap of ranks %d and %d is %v, want 1", k+1, j+1, o)
			}
		}
	}
}

func TestAffineBiasIsFoundWithKnownRelevance(t *testing.T) {
	d := once(8000, 8)
	attraction := func(label float32) float64 { return float64(label) / 4 }
	relevance := map[string][]float64{}
	for q, id := range d.QueryIDs {
		for _, l := range d.Labels[d.Offsets[q]:d.Offsets[q+1]] {
			relevance[id] = append(relevance[id], attraction(l))
		}
	}
	want := Bias{Alpha: []float64{.35, .53, .55, .54, .52}, Beta: []float64{.65, .26, .15, .11, .08}} // Agarwal et al., WWW 2019, as Vardasbi et al. (2020) have it
	log, err := Simulate(d, Logger{Scores: byFeature(.3), Cutoff: 5}, User{Attraction: attraction, Behaviour: AffineClicks(want)}, 8000, 1)
	if err != nil {
		t.Fatal(err)
	}
	known := func(im *Impression) ([]float64, error) { return relevance[im.Query], nil }
	got, _, err := EstimateAffine(log, known)
	if err != nil {
		t.Fatal(err)
	}
	for k := range want.Alpha {
		if math.Abs(got.Alpha[k]/want.Alpha[k]-1) > .12 || math.Abs(got.Beta[k]-want.Beta[k]) > .02 {
			t.Errorf("rank %d: %v and %v, want %v and %v", k+1, got.Alpha[k], got.Beta[k], want.Alpha[k], want.Beta[k])
		}
	}
	if _, _, err := EstimateAffine(log, func(im *Impression) ([]float64, error) { return make([]float64, 8), nil }); err == nil || !strings.Contains(err.Error(), "all documents at rank 1 have the relevance 0") {
		t.Errorf("error %v without relevant documents", err)
	}
}

// The estimates of α and β scatter over logs no more than any unbiased estimator must, by the
// Cramér–Rao bound: the inverse of Σ x xᵀ / p(1−p) with x = (1, r) and p = α r + β.
func TestAffineBiasIsEfficient(t *testing.T) {
	d := fifty(8)
	want := Bias{Alpha: []float64{.52}, Beta: []float64{.08}}
	attraction := func(label float32) float64 { return float64(label) / 4 }
	const logs, n = 200, 600
	var a, b, c float64 // of the information of a log, whose rankings are uniform
	for _, l := range d.Labels {
		r := attraction(l)
		p := .52*r + .08
		w := n / float64(len(d.Labels)) / (p * (1 - p))
		a, b, c = a+w, b+w*r, c+w*r*r
	}
	known := func(im *Impression) (relevance []float64, err error) {
		q := slices.Index(d.QueryIDs, im.Query)
		for _, l := range d.Labels[d.Offsets[q]:d.Offsets[q+1]] {
			relevance = append(relevance, attraction(l))
		}
		return relevance, nil
	}
	var alpha, beta []float64
	for seed := range uint64(logs) {
		log, err := Simulate(d, Logger{Cutoff: 1}, User{Attraction: attraction, Behaviour: AffineClicks(want)}, n, seed)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := EstimateAffine(log, known)
		if err != nil {
			t.Fatal(err)
		}
		alpha, beta = append(alpha, got.Alpha[0]), append(beta, got.Beta[0])
	}
	for _, estimated := range []struct {
		name        string
		values      []float64
		want, bound float64
	}{{"α", alpha, .52, a / (a*c - b*b)}, {"β", beta, .08, c / (a*c - b*b)}} {
		mean, variance := stat.MeanVariance(estimated.values, nil)
		if math.Abs(mean-estimated.want) > 4*math.Sqrt(estimated.bound/logs) {
			t.Errorf("%s is %v on average, want %v", estimated.name, mean, estimated.want)
		}
		if ratio := variance / estimated.bound; ratio < .7 || ratio > 1.35 { // within three standard errors of 1, or a little more
			t.Errorf("the variance of %s is %v times the bound", estimated.name, ratio)
		}
	}
}

// A ranking that never changes compares no ranks.
func TestRanksThatAreNotComparedAreAnError(t *testing.T) {
	log := &Log{}
	for range 10 {
		log.Impressions = append(log.Impressions, Impression{Query: "q", Documents: []string{"a", "b", "c"}, Scores: []float64{2000, 1000, 0}, Shown: []int{0, 1, 2}, Clicks: []float64{1, 1, 1}})
	}
	for _, m := range []Method{Harvest, AllPairs} {
		_, report, err := EstimateBias(log, m)
		if err == nil || !strings.Contains(err.Error(), "ranks [2] are not compared") {
			t.Errorf("%s: error %v", m, err)
		}
		if !reflect.DeepEqual(report.Connected, [][]int{{1}, {2}, {3}}) {
			t.Errorf("%s: report %+v", m, report)
		}
	}
	even := &Log{} // rankings vary, and clicks are at the first ranks alone
	for i := range 12 {
		shown := [][]int{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}}[i%3]
		even.Impressions = append(even.Impressions, Impression{Query: "q", Documents: []string{"a", "b", "c"}, Scores: []float64{2, 1, 0}, Shown: shown, Clicks: []float64{1, 0, 0}})
	}
	for clicked, want := range map[float64]string{0: "no clicks at ranks [2 3], and", 1: "no clicks at ranks [3], and"} {
		even.Impressions[0].Clicks[1], even.Impressions[1].Clicks[1], even.Impressions[2].Clicks[1] = clicked, clicked, clicked
		if _, _, err := EstimateBias(even, AllPairs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	log.Impressions[3].Scores = nil
	if _, _, err := EstimateBias(log, Harvest); err == nil || !strings.Contains(err.Error(), "no scores") {
		t.Errorf("error %v without scores", err)
	}
	if _, _, err := EstimateBias(log, "harvset"); err == nil || !strings.Contains(err.Error(), "did you mean harvest?") {
		t.Errorf("error %v for an unknown method", err)
	}
	if _, _, err := EstimateBias(&Log{}, RegressionEM); err == nil {
		t.Error("no error for an empty log")
	}
}
