package metrics

import (
	"fmt"
	"math"
	"testing"

	"github.com/plrank/plrank/internal/testkit"
)

func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(1, math.Abs(b))
}

func TestMetricsAgreeWithGoldenVectors(t *testing.T) {
	type means struct {
		Mean            float64
		QueryNormalized float64 `json:"query_normalized"`
	}
	var file struct {
		Cases []struct {
			Name    string
			K       int
			Theta   []float64
			Queries []struct {
				Scores           []float64
				RawLabels        []float32 `json:"raw_labels"`
				Rankings         [][]int
				IdealDCG         float64 `json:"ideal_dcg"`
				DeterministicDCG float64 `json:"deterministic_dcg"`
				ExpectedDCG      float64 `json:"expected_dcg"`
			}
			MaximumLikelihood means `json:"maximum_likelihood"`
			Expectation       means
		}
	}
	testkit.Golden(t, "metrics.json", &file)
	const tolerance = 1e-13
	for _, c := range file.Cases {
		for k, theta := range Discounts(c.K) {
			if !near(theta, c.Theta[k], 1e-15) {
				t.Errorf("%s: θ of rank %d is %v, want %v", c.Name, k+1, theta, c.Theta[k])
			}
		}
		l := Queries{Offsets: []int{0}}
		dcg, ndcg := mustParse(t, fmt.Sprintf("dcg@%d", c.K)), mustParse(t, fmt.Sprintf("ndcg@%d", c.K))
		var expected, expectedNormalized []float64
		for i, q := range c.Queries {
			one := Queries{Scores: q.Scores, Labels: q.RawLabels}
			expected = append(expected, overRankings(t, dcg, one, q.Rankings).mean)
			expectedNormalized = append(expectedNormalized, overRankings(t, ndcg, one, q.Rankings).mean)
			if !near(expected[i], q.ExpectedDCG, tolerance) {
				t.Errorf("%s: query %d: expected DCG %v, want %v", c.Name, i, expected[i], q.ExpectedDCG)
			}
			l.Scores = append(l.Scores, q.Scores...)
			l.Labels = append(l.Labels, q.RawLabels...)
			l.Offsets = append(l.Offsets, len(l.Scores))
			gains, err := Exp2Gain.Gains(q.RawLabels)
			if err != nil {
				t.Fatal(err)
			}
			if got := IdealDCG(gains, c.Theta); !near(got, q.IdealDCG, tolerance) {
				t.Errorf("%s: ideal DCG %v, want %v", c.Name, got, q.IdealDCG)
			}
		}
		deterministic, err := dcg.PerQuery(l)
		if err != nil {
			t.Fatal(err)
		}
		for i, q := range c.Queries {
			if !near(deterministic[i], q.DeterministicDCG, tolerance) {
				t.Errorf("%s: query %d: DCG %v, want %v", c.Name, i, deterministic[i], q.DeterministicDCG)
			}
		}
		normalized, err := ndcg.PerQuery(l)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []struct {
			what      string
			got, want float64
		}{
			{"mean DCG", Mean(deterministic, LabelFreeZero), c.MaximumLikelihood.Mean},
			{"mean NDCG", Mean(normalized, LabelFreeZero), c.MaximumLikelihood.QueryNormalized},
			{"mean expected DCG", Mean(expected, LabelFreeZero), c.Expectation.Mean},
			{"mean expected NDCG", Mean(expectedNormalized, LabelFreeZero), c.Expectation.QueryNormalized},
		} {
			if !near(v.got, v.want, tolerance) {
				t.Errorf("%s: %s %v, want %v", c.Name, v.what, v.got, v.want)
			}
		}
	}
}

// Of tiny queries, enumerated.
func TestExpectedDCGAgreesWithGoldenVectors(t *testing.T) {
	var file struct {
		Cases []struct {
			Name   string
			Scores []float64
			Labels []float32 // gains
			K      int
			Theta  []float64
			Reward float64
		}
	}
	testkit.Golden(t, "exact.json", &file)
	compared := 0
	for _, c := range file.Cases {
		usual := true
		for k, theta := range Discounts(len(c.Theta)) {
			usual = usual && near(theta, c.Theta[k], 1e-12)
		}
		for _, gain := range c.Labels {
			usual = usual && gain >= 0
		}
		if !usual {
			continue // DCG has neither other discounts nor negative gains
		}
		compared++
		m := mustParse(t, fmt.Sprintf("expected-dcg@%d", c.K))
		values, err := m.PerQuery(Queries{Scores: c.Scores, Labels: c.Labels, Gain: LinearGain})
		if err != nil {
			t.Fatal(err)
		}
		if got, within := values[0], 1e-6*max(1, c.Reward); math.Abs(got-c.Reward) > within {
			t.Errorf("%s: expected DCG %v ± %v, want %v", c.Name, got, within, c.Reward)
		}
	}
	if compared == 0 {
		t.Error("no case has DCG's discounts")
	}
}
