package train

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/losses"
)

// A cutoff beyond the longest list, and none, is a cutoff at its length, to the last bit, for losses of
// all kinds: what is drawn and computed for ranks does not grow with it.
func TestCutoffBeyondTheLongestList(t *testing.T) {
	t.Parallel()
	s := small()
	k := RankCount(longest(s.Train))
	for _, name := range []string{"plrank-rb", "plrank-exact", "lambdaloss", "ndcg-loss2k", "ndcg-loss1", "pirank", "stochasticrank", "disparity(plrank2)"} {
		var weights [][]float32
		for _, cutoff := range []RankCount{k, 2000, AllRanks} {
			ranks := RankCount(0)
			loss, err := losses.Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			c := Config{Objective: Objective{Loss: "watched", Cutoff: cutoff, Samples: 3}, Model: Model{Hidden: []int{4}}, Optimization: Optimization{Epochs: 1, Batch: 16}, Evaluation: Evaluation{Metric: "ndcg@5"}, Seed: 1}
			tr, err := New(c.Plain(), Custom{Loss: func(b losses.Batch) (*G.Node, error) {
				ranks = RankCount(len(b.Discounts))
				return loss(b)
			}}, s)
			if err != nil {
				t.Fatal(err)
			}
			weights = append(weights, trainedWeights(mustRun(t, tr, Hooks{}).Model))
			if ranks != k {
				t.Errorf("%s, cutoff %v: %d ranks for lists of up to %d documents", name, cutoff, ranks, k)
			}
		}
		for i, other := range []string{"a cutoff of 2000", "all ranks"} {
			if !slices.Equal(weights[0], weights[i+1]) {
				t.Errorf("%s: other weights with %s than with a cutoff of %d", name, other, k)
			}
		}
	}
}

// Where every rank counts, a run has a cutoff at the longest query of all splits, where
// here some are long enough for expectations by geometric sums.
func TestAllRanksAreThoseOfTheLongestQuery(t *testing.T) {
	t.Parallel()
	s := sized(6, 45)
	s.Vali = sized(4, 60).Vali
	s.Test = sized(4, 33).Train
	run := func(cutoff RankCount, discounts string) (weights []float32, measured []Values) {
		c := Config{
			Objective:    Objective{Loss: "plrank-exact+0.1*disparity", Cutoff: cutoff, Discounts: discounts, Gain: "linear", NormalizeGains: true},
			Model:        Model{Hidden: []int{4}},
			Optimization: Optimization{Epochs: 2, Batch: 4},
			Evaluation:   Evaluation{Metric: LossMetric, Report: []string{"ee-l", "expected-rbp(0.9)"}},
		}
		tr, err := New(c.Plain(), Custom{}, s)
		if err != nil {
			t.Fatal(err)
		}
		r := mustRun(t, tr, Hooks{})
		report, err := tr.Report(r.Model)
		if err != nil {
			t.Fatal(err)
		}
		for _, split := range report.Splits {
			values := Values{}
			for name, v := range split.Rows[len(split.Rows)-1] {
				values[strings.TrimSuffix(name, "@60")] = v
			}
			measured = append(measured, values)
		}
		again, err := Evaluate(c.Plain(), Custom{}, r.Model, Split{"test", s.Test})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := again.Splits[0].Rows[1]["ee-l"], measured[2]["ee-l"]; discounts != "arp" && math.Abs(float64(got-want)) > 1e-9 {
			t.Errorf("%s: ee-l is %v by Evaluate, %v in the run", discounts, got, want)
		}
		return trainedWeights(r.Model), measured
	}
	for _, discounts := range []string{"dcg", "rbp(0.9)", "arp"} {
		weights, measured := run(AllRanks, discounts)
		wantWeights, want := run(60, discounts)
		if !slices.Equal(weights, wantWeights) {
			t.Errorf("%s: other weights with all ranks than with a cutoff of 60", discounts)
		}
		for i, values := range want {
			for name, v := range values {
				got, ok := measured[i][name]
				if !ok || math.Abs(float64(got-v)) > 1e-9*max(1, math.Abs(float64(v))) {
					t.Errorf("%s, split %d: %s is %v, with a cutoff of 60 %v", discounts, i, name, got, v)
				}
			}
			if values[LossMetric] != measured[i][LossMetric] || values["ee-l"] != measured[i]["ee-l"] {
				t.Errorf("%s, split %d: loss and ee-l of all ranks differ from a cutoff of 60", discounts, i)
			}
		}
	}
}

// The memory of rankings is for as many ranks as the longest query has documents, and only what
// is sampled takes any.
func TestMemoryOfAllRanks(t *testing.T) {
	t.Parallel()
	s := sized(4, 60)
	for loss, want := range map[string]string{
		"plrank-rb":          "train: samples: rankings of 60 ranks for 1 queries a step take about 4.8 GB, want 3 GB at most",
		"disparity(plrank2)": "train: samples: rankings of 60 ranks",
		"plrank-exact":       "",
		"disparity":          "",
	} {
		_, err := New(Config{Objective: Objective{Loss: loss, Cutoff: AllRanks, Samples: 10_000_000}, Model: Model{Hidden: []int{4}}}.Plain(), Custom{}, s)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", loss, err, want)
		}
	}
}

// In JSON all ranks are a word, and a number of 0 means unset, as in files of older versions.
func TestRankCountsAreNumbersOrAll(t *testing.T) {
	for text, want := range map[string]RankCount{"7": 7, "all": AllRanks, "0": AllRanks} {
		var n RankCount
		if err := n.UnmarshalText([]byte(text)); err != nil || n != want || text != "0" && n.String() != text {
			t.Errorf("%q: %v, %v", text, n, err)
		}
	}
	for _, text := range []string{"", "-1", "1.5", "All"} {
		if err := new(RankCount).UnmarshalText([]byte(text)); err == nil || err.Error() != "want 1 to 1000000, or all" {
			t.Errorf("%q: error %v", text, err)
		}
	}
	for text, want := range map[string]RankCount{`{"cutoff":7}`: 7, `{"cutoff":"all"}`: AllRanks, `{"cutoff":0}`: 5, `{}`: 5} {
		var c Config
		if err := json.Unmarshal([]byte(text), &c); err != nil || c.Plain().Cutoff != want {
			t.Errorf("%s: %v, %v", text, c.Plain().Cutoff, err)
		}
		if written, err := json.Marshal(c); err != nil || text != "{}" && !strings.Contains(string(written), text[1:len(text)-1]) {
			t.Errorf("%s: %s, %v", text, written, err)
		}
	}
	for _, text := range []string{`{"cutoff":-1}`, `{"cutoff":"some"}`, `{"cutoff":2.5}`} {
		if err := json.Unmarshal([]byte(text), new(Config)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}
