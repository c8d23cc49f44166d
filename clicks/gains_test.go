package clicks

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
)

// Over all rankings that two policies can draw for one query, and one policy for another, the
// mean of the gains is the relevance: of policy-aware and dr.
func TestGainsAreUnbiased(t *testing.T) {
	for _, c := range []struct {
		name       string
		bias       Bias
		estimators []Estimator
	}{
		{"position-based", Bias{Alpha: smallBias.Alpha}, []Estimator{PolicyAware, DR}},
		{"trust", smallBias, []Estimator{PolicyAware, DR}},
	} {
		t.Run(c.name, func(t *testing.T) {
			lists := smallLists(func(relevance []float64) []float64 {
				clicks := affineClicks(relevance)
				for k := range clicks {
					clicks[k] += c.bias.beta(k) - smallBias.beta(k)
				}
				return clicks
			})
			lists[0].ranks, lists[1].ranks = 2, 1
			other := lists[0]
			other.logged = other.target
			means := make([][]float64, len(c.estimators))
			negative := false
			forEachRanking(t, lists[0], func(first Impression, p0 float64) {
				first.Version = "1"
				forEachRanking(t, other, func(second Impression, p1 float64) {
					second.Version = "2"
					forEachRanking(t, lists[1], func(third Impression, p2 float64) {
						log := &Log{Impressions: []Impression{first, second, third}}
						for j, e := range c.estimators {
							d, err := Gains(log, c.bias, e+"(0)")
							if err != nil {
								t.Fatal(err)
							}
							means[j] = append(means[j], make([]float64, 8-len(means[j]))...)
							for row, g := range d.Gains {
								means[j][row] += p0 * p1 * p2 * g
								negative = negative || g < 0
							}
						}
					})
				})
			})
			want := append(append([]float64(nil), lists[0].relevance...), lists[1].relevance...)
			for j, e := range c.estimators {
				for row, w := range want {
					if math.Abs(means[j][row]-w) > 1e-12 {
						t.Errorf("%s: the mean gain of document %d is %v, want %v", e, row, means[j][row], w)
					}
				}
			}
			if !negative {
				t.Error("no gain of any ranking is negative")
			}
		})
	}
}

// The formulas, written out for two impressions of one query.
func TestGainsOfTwoImpressions(t *testing.T) {
	im := Impression{Query: "q", Documents: []string{"a", "b"}, Features: []float32{1, 2, 3, 4}, Scores: []float64{math.Log(3), 0}, Shown: []int{0, 1}, Clicks: []float64{0, 1}}
	second := im
	second.Shown, second.Clicks = []int{1, 0}, []float64{1, 0}
	log := &Log{Impressions: []Impression{im, second}, FeatureIDs: []int{3, 8}}
	b := Bias{Alpha: []float64{1, .5}, Beta: []float64{.1, .2}}
	exposureA, exposureB := .75+.25*.5, .25+.75*.5
	for e, want := range map[Estimator][]float64{
		"naive":            {0, 1},
		"ips(0)":           {0, (1/.5 + 1) / 2},
		"ips(0.8)":         {0, (1/.8 + 1) / 2},
		"policy-aware(0)":  {-.15 / exposureA, (1 - .15) / exposureB},
		"policy-aware(.9)": {-.15 / .9, (1 - .15) / .9},
		"policy-aware":     {-.15, 1 - .15},                           // the clip is 1 for so few impressions
		Estimator("dr(0)"): {-.15 / exposureA, (1 - .15) / exposureB}, // no other queries: r̂ = 0
	} {
		d, err := Gains(log, b, e)
		if err != nil {
			t.Fatal(err)
		}
		for row, g := range d.Gains {
			if math.Abs(g-want[row]) > 1e-12 {
				t.Errorf("%s: gains %v, want %v", e, d.Gains, want)
			}
		}
		wantData := &datasets.Dataset{Name: "clicks", Features: im.Features, Labels: []float32{-1, -1}, Offsets: []int{0, 2}, QueryIDs: []string{"q"},
			FeatureIDs: []int{3, 8}, DocumentIDs: im.Documents, QueryWeights: []float32{1}, Gains: d.Gains}
		wantData.LoggedScores = []float32{0, -float32(math.Log(3))}
		if e != "naive" && !strings.HasPrefix(string(e), "ips") {
			wantData.Logged = []float32{float32(2 * exposureA), float32(2 * exposureB)}
		}
		if !reflect.DeepEqual(d, wantData) {
			t.Errorf("%+v, want %+v", d, wantData)
		}
	}
}

// Candidates that differ between versions are put together, and documents that are never
// shown have the gain of the regression, or none.
func TestGainsOfDifferentCandidates(t *testing.T) {
	log := &Log{Impressions: []Impression{
		{Query: "q", Version: "1", Documents: []string{"a", "b"}, Scores: []float64{1, 0}, Shown: []int{0}, Clicks: []float64{1}},
		{Query: "p", Documents: []string{"x"}, Scores: []float64{0}, Shown: []int{0}, Clicks: []float64{0}},
		{Query: "q", Version: "2", Documents: []string{"b", "c"}, Scores: []float64{800, 0}, Shown: []int{0}, Clicks: []float64{1}},
	}}
	d, err := Gains(log, Bias{Alpha: []float64{1}}, "policy-aware(0)")
	if err != nil {
		t.Fatal(err)
	}
	e := math.E
	want := []float64{1 / (e / (1 + e)), 1 / (1/(1+e) + 1), 0, 0}
	for row, g := range d.Gains {
		if math.Abs(g-want[row]) > 1e-12 {
			t.Errorf("gains %v, want %v", d.Gains, want)
		}
	}
	if want := []float32{-900, 0, -800, 0}; !reflect.DeepEqual(d.LoggedScores, want) {
		t.Errorf("logged scores %v, want the scores of the last policy, %v", d.LoggedScores, want)
	}
	if !reflect.DeepEqual(d.DocumentIDs, []string{"a", "b", "c", "x"}) || !reflect.DeepEqual(d.QueryWeights, []float32{4. / 3, 2. / 3}) {
		t.Errorf("documents %v with query weights %v", d.DocumentIDs, d.QueryWeights)
	}
}

// Many clicks find the relevance, and naive clicks do not.
func TestGainsAgreeWithRelevance(t *testing.T) {
	log := simulated(t, 10, 5, 20000)
	d := fifty(10)
	relevance := map[string][]float64{}
	for q, id := range d.QueryIDs {
		for _, l := range d.Labels[d.Offsets[q]:d.Offsets[q+1]] {
			relevance[id] = append(relevance[id], (math.Exp2(float64(l))-1)/15)
		}
	}
	errorOf := func(e Estimator) (sum float64) {
		got, err := Gains(log, Bias{Alpha: theta(5)}, e)
		if err != nil {
			t.Fatal(err)
		}
		for q, id := range got.QueryIDs {
			for i, r := range relevance[id] {
				row := got.Offsets[q] + i
				if got.DocumentIDs[row] != id+"."+string("123456789"[min(i, 8)]) && i < 9 {
					t.Fatalf("document %q of query %q at %d", got.DocumentIDs[row], id, i)
				}
				sum += (got.Gains[row] - r) * (got.Gains[row] - r) / float64(got.Rows())
			}
		}
		return sum
	}
	naive, ips, aware, dr := errorOf(Naive), errorOf(IPS), errorOf(PolicyAware), errorOf(DR)
	if !(dr < aware && aware < ips && ips < naive && dr < .01) {
		t.Errorf("squared errors: naive %v, ips %v, policy-aware %v, dr %v", naive, ips, aware, dr)
	}
}

func TestInvalidGainsAreErrors(t *testing.T) {
	log := &Log{Impressions: []Impression{{ID: "r", Query: "q", Documents: []string{"a"}, Shown: []int{0}, Clicks: []float64{1}}}}
	for _, c := range []struct {
		bias      Bias
		estimator Estimator
		want      string
	}{
		{Bias{Alpha: []float64{1}}, DR, `impression "r" (query "q"): no scores`},
		{Bias{}, IPS, "no position bias"},
		{Bias{}, IIPS, "unknown estimator"},
		{Bias{}, "naive(.1)", "invalid estimator"},
	} {
		if _, err := Gains(log, c.bias, c.estimator); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.estimator, err, c.want)
		}
	}
	if d, err := Gains(&Log{}, Bias{}, Naive); err != nil || d.Rows() != 0 {
		t.Errorf("an empty log: %v, %v", d, err)
	}
}
