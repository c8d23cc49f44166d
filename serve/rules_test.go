package serve

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/plrank/plrank/clicks"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/plackett"
)

// ruled is a service whose scores are the feature 1, with a click log.
func ruled(t *testing.T) (s *Service, logs string) {
	model, logs := filepath.Join(t.TempDir(), "model.npz"), t.TempDir()
	testkit.LinearModel(t, model, 1, 0, 0)
	s, _ = tested(t, Options{Models: only(model), Clicks: logs})
	return s, logs
}

// five documents of scores 2, 1, .5, 0 and −1, with ids a to e.
const five = `"query": "q", "documents": [[2,0,7],[1,0,7],[0.5,1,0],[0,1,7],[-1,1,0]], "document_ids": ["a","b","c","d","e"],
	"attributes": {"brand": ["x","x","y",null,"y"]}`

// asking is a request of these documents with rules.
func asking(rules string) string {
	if strings.Contains(rules, "diversify") {
		rules += `, "vectors": {"vector": [[1,0],[2,0],[0,3],[1,1],null]}`
	}
	return `{` + five + `, ` + rules + `}`
}

type ruledAnswer struct {
	Order []int
	Drawn struct {
		Ranking        []int
		LogProbability float64 `json:"log_probability"`
		Propensities   []float64
	}
	Rules struct {
		Metric        string
		Without, With float64
		Exposure      []struct{ Share, Offset float64 }
	}
}

func askRuled(t *testing.T, s *Service, rules string) (a ruledAnswer) {
	t.Helper()
	w := post(s, asking(rules))
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != 200 {
		t.Fatalf("%s: %d %s", rules, w.Code, w.Body)
	}
	return a
}

func TestRulesOrder(t *testing.T) {
	s, _ := ruled(t)
	for rules, want := range map[string][]int{
		`"pins": [{"id": "e", "rank": 2}]`:                                                           {0, 4, 1, 2, 3},
		`"pins": [{"id": 4, "rank": 2}]`:                                                             {0, 4, 1, 2, 3},
		`"bury": [{"id": "a", "by": 2.5}]`:                                                           {1, 2, 3, 0, 4},
		`"boost": [{"column": "brand", "value": "y", "by": 2}]`:                                      {2, 0, 1, 4, 3},
		`"quotas": [{"column": "brand", "value": "y", "least": 1, "of the first": 2}]`:               {0, 2, 1, 3, 4},
		`"quotas": [{"column": "brand", "value": "x", "most": 1, "of the first": 3}]`:                {0, 2, 3, 1, 4},
		`"quotas": [{"column": "5", "value": 1, "least": 2, "of the first": 3}]`:                     {0, 2, 3, 1, 4},
		`"diversify": {"lambda": 0.5, "vector": "vector"}`:                                           {0, 2, 1, 3, 4},
		`"diversify": {"lambda": 1, "vector": ["5"]}`:                                                {0, 1, 2, 3, 4},
		`"pins": [{"id": "d", "rank": 1}], "diversify": {"lambda": 0.5, "vector": "vector"}`:         {3, 0, 1, 2, 4},
		`"quotas": [{"column": "brand", "value": "y", "least": 2, "of the first": 2}], "pins": []`:   {2, 4, 0, 1, 3},
		`"quotas": [{"column": "brand", "value": "z", "most": 0, "of the first": 2}], "boost": null`: {0, 1, 2, 3, 4},
		`"quotas": [{"column": "brand", "value": "y", "least": 1, "most": 1, "of the first": 1}]`:    {2, 0, 1, 3, 4},
	} {
		a := askRuled(t, s, rules)
		if !slices.Equal(a.Order, want) {
			t.Errorf("%s: %v, want %v", rules, a.Order, want)
		}
		dcg := func(order []int) (sum float64) {
			for k, d := range order {
				sum += math.Exp([]float64{2, 1, .5, 0, -1}[d]) / math.Log2(float64(k)+2)
			}
			return sum
		}
		if with := dcg(want) / dcg([]int{0, 1, 2, 3, 4}); a.Rules.Metric != "ndcg@5" || a.Rules.Without != 1 || math.Abs(a.Rules.With-with) > 1e-12 {
			t.Errorf("%s: %+v, want %v", rules, a.Rules, with)
		}
	}
}

// The rankings drawn obey, have the frequencies of their probabilities, which add up to 1, and are logged with these.
func TestRulesOfDraws(t *testing.T) {
	const draws = 2000
	s, logs := ruled(t)
	rules := `"quotas": [{"column": "brand", "value": "y", "least": 1, "of the first": 2}, {"column": "5", "value": 1, "most": 2, "of the first": 4}],
		"pins": [{"id": "b", "rank": 3}], "boost": [{"id": "e", "by": 1}], "draw": {"cutoff": 3, "temperature": 2, "seed": %d}`
	seen, probabilities, propensities, metric, want := map[[3]int]float64{}, map[[3]int]float64{}, make([]float64, 5), 0., ruledAnswer{}
	for seed := range draws {
		a := askRuled(t, s, fmt.Sprintf(rules, seed))
		y := [3]int(a.Drawn.Ranking)
		if y[2] != 1 || y[0] != 2 && y[0] != 4 && y[1] != 2 && y[1] != 4 {
			t.Fatalf("%v breaks the rules", y)
		}
		seen[y]++
		probabilities[y] = math.Exp(a.Drawn.LogProbability)
		want = a
	}
	sum, chi := 0., 0.
	for y, p := range probabilities {
		sum += p
		chi += (seen[y] - draws*p) * (seen[y] - draws*p) / draws / p
		for k, d := range y {
			propensities[d] += p
			metric += p * math.Exp([]float64{2, 1, .5, 0, -1}[d]) / math.Log2(float64(k)+2)
		}
	}
	if math.Abs(sum-1) > 1e-12 || (distuv.ChiSquared{K: float64(len(seen) - 1)}).Survival(chi) < 1e-4 {
		t.Errorf("%d rankings, probabilities %v, χ² %v", len(seen), sum, chi)
	}
	ideal := math.Exp(2) + math.E/math.Log2(3) + math.Exp(.5)/2
	if !floats.EqualApprox(propensities, want.Drawn.Propensities, 1e-6) || math.Abs(metric/ideal-want.Rules.With) > 1e-6 ||
		want.Rules.Metric != "expected-ndcg@3" || want.Rules.Without <= want.Rules.With {
		t.Errorf("propensities %v, want %v; %+v, want %v", want.Drawn.Propensities, propensities, want.Rules, metric/ideal)
	}
	log, err := clicks.Read(logs)
	if err != nil || len(log.Impressions) != draws {
		t.Fatal(len(log.Impressions), err)
	}
	for _, im := range log.Impressions[:10] {
		y := [3]int(im.Shown)
		if math.Abs(math.Exp(im.LogProbability)-probabilities[y]) > 1e-12 || im.Rules.Offsets[4] != .5 { // by the temperature
			t.Errorf("%+v: want the probability %v", im, probabilities[y])
		}
	}
	estimates, err := clicks.Evaluate(log, clicks.Target{Policy: clicks.Logged}, clicks.RIPS, clicks.IIPS)
	if err != nil || math.Abs(estimates[0].LargestWeight-1) > 1e-12 {
		t.Errorf("%+v, %v", estimates, err)
	}
}

// Groups get their shares of the exposure, to 1e-6 by enumeration of what is drawn, also beside pins.
func TestTargetsOfExposureAreMet(t *testing.T) {
	s, _ := ruled(t)
	for rules, pins := range map[string][]plackett.Pin{``: nil, `"pins": [{"id": "e", "rank": 2}], `: {{Document: 4, Rank: 2}}} {
		a := askRuled(t, s, rules+`"exposure": [{"column": "brand", "value": "y", "least": 0.5}, {"column": "brand", "value": "x", "least": 0.1}],
			"draw": {"cutoff": 3, "temperature": 2}`)
		x := a.Rules.Exposure
		if len(x) != 2 || x[1].Offset != 0 {
			t.Fatalf("%+v", a.Rules)
		}
		scores := []float64{1, .5, .25 + x[0].Offset/2, 0, -.5 + x[0].Offset/2} // by the temperature
		var p plackett.Ruled
		exposure := make([]float64, 5)
		discounts := []float64{1, 1 / math.Log2(3), .5}
		if err := p.Set(scores, plackett.Rules{Pins: pins}); err != nil {
			t.Fatal(err)
		}
		if err := p.Exposure(discounts, exposure); err != nil {
			t.Fatal(err)
		}
		if share := (exposure[2] + exposure[4]) / floats.Sum(discounts); math.Abs(share-.5) > 1e-6 || math.Abs(x[0].Share-.5) > 1e-8 {
			t.Errorf("share %v, %+v", share, a.Rules)
		}
	}
}

func TestRulesThatAreInvalid(t *testing.T) {
	s, _ := ruled(t)
	for rules, want := range map[string]string{
		`"quotas": [{"column": "brand", "value": "y", "least": 3, "of the first": 4}]`: `quotas: entry 0, {"column": "brand", "value": "y", "least": 3, "of the first": 4} ` +
			`cannot be obeyed: with the rules before it, 1 to 2 of its documents are possible`,
		`"pins": [{"id": "c", "rank": 1}, {"id": "e", "rank": 2}], "quotas": [{"column": "brand", "value": "x", "least": 0, "most": 2, "of the first": 5}, ` +
			`{"column": "brand", "value": "x", "least": 1, "of the first": 2}]`: `entry 1, {"column": "brand", "value": "x", "least": 1, "of the first": 2} ` +
			`cannot be obeyed: with the rules before it, 0 to 0`,
		`"exposure": [{"column": "brand", "value": "y", "least": 0.99}], "draw": {"cutoff": 3}`: `exposure: entry 0, {"column": "brand", "value": "y", "least": 0.99}: ` +
			`less than 0.7654 is possible`,
		`"exposure": [{"column": "brand", "value": "y", "least": 0.1}]`:                           `exposure: it is of a policy: want draw, and no quotas`,
		`"exposure": [{"column": "brand", "value": "y", "least": 2}]`:                             `least 2, want a share`,
		`"pins": [{"id": "f", "rank": 1}]`:                                                        `pins: entry 0: id "f" is not among document_ids`,
		`"pins": [{"id": 5, "rank": 1}]`:                                                          `the position of one of 5 documents`,
		`"pins": [{"id": "a", "rank": 6}]`:                                                        `pins: entry 0: rank 6, want one from 1 to 5`,
		`"pins": [{"id": "a"}]`:                                                                   `no rank: want a whole number of 1 or more`,
		`"pins": [{"rank": 1}]`:                                                                   `no id: want a document`,
		`"pins": [{"id": "a", "rank": 1}, {"id": "a", "rank": 2}]`:                                `pin 1: document 0 is pinned to rank 1 already`,
		`"pins": {"id": "a", "rank": 1}`:                                                          `pins: want an array`,
		`"pins": [{"id": "a", "rank": 1, "to": 2}]`:                                               `unknown field \"to\"`,
		`"boost": [{"id": "a"}]`:                                                                  `boost: entry 0: no by: want a number of 0 or more`,
		`"bury": [{"id": "a", "by": -1}]`:                                                         `bury: entry 0: by -1, want a number of 0 or more`,
		`"bury": [{"id": "a", "column": "brand", "value": "x", "by": 1}]`:                         `id and column exclude each other`,
		`"boost": [{"column": "colour", "value": "x", "by": 1}]`:                                  `column "colour": want a name of attributes, or one of feature_ids`,
		`"quotas": [{"column": "brand", "value": "x", "least": 1}]`:                               `no of the first: want a whole number of 1 or more`,
		`"quotas": [{"column": "brand", "value": "x", "of the first": 3}]`:                        `want "least" or "most"`,
		`"quotas": [{"column": "brand", "value": "x", "least": 2, "most": 1, "of the first": 3}]`: `at least 2, and at most 1`,
		`"quotas": [{"column": "brand", "value": "x", "least": 1.5, "of the first": 3}]`:          `least 1.5, want a whole number`,
		`"quotas": [{"value": "x", "least": 1, "of the first": 3}]`:                               `want a column, by name, and a value`,
		`"diversify": {"lambda": 0, "vector": "vector"}`:                                          `diversify: lambda 0, want a positive, finite number`,
		`"diversify": {"lambda": 0.5}`:                                                            `diversify: vector: want the name of one of vectors`,
		`"diversify": {"lambda": 0.5, "vector": "v"}`:                                             `"v" is not among the vectors of documents in this request`,
		`"diversify": {"lambda": 0.5, "vector": ["nothing"]}`:                                     `unknown feature \"nothing\"`,
		`"diversify": {"lambda": 0.5, "vector": []}`:                                              `no features`,
	} {
		w := post(s, asking(rules))
		if text := w.Body.String(); w.Code != 400 || !strings.Contains(strings.ReplaceAll(text, `\"`, `"`), strings.ReplaceAll(want, `\"`, `"`)) {
			t.Errorf("%s: %d %s, want %s", rules, w.Code, text, want)
		}
	}
	for _, body := range []string{
		`{"documents": [], "quotas": [{"column": "brand", "value": "y", "least": 3, "of the first": 4}]}`, `{"documents": [[1,2,3]], "attributes": {"b": [1]}}`,
	} {
		if w := post(s, body); w.Code != 200 {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	for attributes, want := range map[string]string{
		`{"b": [1, 2]}`: `column "b": 2 attributes for 1 documents`, `{"b": 1}`: `column "b": want an array of attributes`, `{"b": [1], "b": [2]}`: `"b" occurs twice`, `[]`: `attributes: want an object`,
	} {
		w := post(s, `{"documents": [[1,2,3]], "attributes": `+attributes+`, "boost": [{"column": "b", "value": 1, "by": 1}]}`)
		if w.Code != 400 || !strings.Contains(strings.ReplaceAll(w.Body.String(), `\"`, `"`), want) {
			t.Errorf("%s: %d %s, want %s", attributes, w.Code, w.Body, want)
		}
	}
}
