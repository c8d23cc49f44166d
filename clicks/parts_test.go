package clicks

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/metrics"
)

// estimation is what takes a log in parts.
type estimation interface{ Add(l *Log) error }

// estimations are all of them, by name.
func estimations(t *testing.T, b Bias) map[string]estimation {
	t.Helper()
	all := map[string]estimation{"affine bias": NewAffineEstimation(relevanceByName)}
	for _, m := range Methods() {
		e, err := NewBiasEstimation(m)
		if err != nil {
			t.Fatal(err)
		}
		all[string(m)] = e
	}
	for _, name := range GainEstimators() {
		e, err := NewGainEstimation(b, name)
		if err != nil {
			t.Fatal(err)
		}
		all["gains by "+string(name)] = e
	}
	e, err := NewEvaluation(Target{Policy: Logged, Bias: b, Bootstrap: metrics.Bootstrap{Resamples: 9}}, ValueEstimators()...)
	if err != nil {
		t.Fatal(err)
	}
	all["values"] = e
	return all
}

// relevanceByName is a number of two digits for each document.
func relevanceByName(im *Impression) (r []float64, err error) {
	for _, d := range im.Documents {
		r = append(r, float64(d[len(d)-1]%7)/10)
	}
	return r, nil
}

// versions are logs of two versions of a policy for the same queries.
func versions(t *testing.T, impressions int, bias Bias, seed uint64) (logs []*Log) {
	t.Helper()
	d := fifty(8)
	for version := range 2 {
		l, err := Simulate(d, Logger{Version: fmt.Sprint(version), Scores: byFeature(1), Temperature: 1 + float64(version), Cutoff: 4}, User{Behaviour: AffineClicks(bias)}, impressions, seed+uint64(version))
		if err != nil {
			t.Fatal(err)
		}
		for i := range l.Impressions {
			l.Impressions[i].ID += l.Impressions[i].Version
		}
		logs = append(logs, l)
	}
	return logs
}

// A log in parts has the estimates of the whole log: sums are added in another order, and nothing else.
func TestPartsAreTheWhole(t *testing.T) {
	bias := Bias{Alpha: []float64{.9, .5, .3, .2}, Beta: []float64{.05, .04, .02, .01}}
	logs := versions(t, 1500, bias, 5)
	whole := &Log{Impressions: slices.Concat(logs[0].Impressions, logs[1].Impressions), FeatureIDs: logs[0].FeatureIDs}
	parts := []*Log{{}}
	for from := 0; from < len(whole.Impressions); from += 700 {
		parts = append(parts, &Log{Impressions: whole.Impressions[from:min(from+700, len(whole.Impressions))], FeatureIDs: whole.FeatureIDs})
	}
	atOnce, inParts := estimations(t, bias), estimations(t, bias)
	for name, e := range atOnce {
		if err := e.Add(whole); err != nil {
			t.Fatal(name, err)
		}
		for _, p := range parts {
			if err := inParts[name].Add(p); err != nil {
				t.Fatal(name, err)
			}
		}
		if name == "values" {
			continue // its regression is fitted to the first part
		}
		want, got := numbersOf(t, e), numbersOf(t, inParts[name])
		if len(want) < 4 || len(got) != len(want) {
			t.Fatalf("%s: %d numbers, want %d", name, len(got), len(want))
		}
		for i := range want {
			if !(math.Abs(got[i]-want[i]) <= 1e-10*(1+math.Abs(want[i]))) {
				t.Errorf("%s: number %d is %v in parts, %v at once", name, i, got[i], want[i])
				break
			}
		}
	}
}

// numbersOf are the results of an estimation.
func numbersOf(t *testing.T, e estimation) (all []float64) {
	t.Helper()
	switch e := e.(type) {
	case *BiasEstimation:
		b, r, err := e.Estimate()
		if err != nil {
			t.Fatal(err)
		}
		all = slices.Concat(b.Alpha, b.Beta, r.ClickRate)
		for _, row := range r.Overlap {
			all = append(all, row...)
		}
	case *GainEstimation:
		d, err := e.Dataset()
		if err != nil {
			t.Fatal(err)
		}
		all = slices.Clone(d.Gains)
		for _, column := range [][]float32{d.Logged, d.LoggedScores, d.QueryWeights, d.Features} {
			for _, v := range column {
				all = append(all, float64(v))
			}
		}
	}
	return all
}

// The memory of estimations does not grow with impressions of the same queries.
func TestMemoryIsThatOfTheDocuments(t *testing.T) {
	bias := Bias{Alpha: []float64{.9, .5, .3, .2}, Beta: []float64{.05, .04, .02, .01}}
	logs := versions(t, 100, bias, 5)
	for name, e := range estimations(t, bias) {
		t.Run(name, func(t *testing.T) {
			testkit.Steady(t, 20, func(from, to int) {
				for i := from; i < to; i++ {
					part := &Log{FeatureIDs: logs[i%2].FeatureIDs}
					for _, im := range logs[i%2].Impressions { // as if it were read anew
						im.ID, im.Query = strings.Clone(im.ID), strings.Clone(im.Query)
						im.Features, im.Scores, im.Clicks = slices.Clone(im.Features), slices.Clone(im.Scores), slices.Clone(im.Clicks)
						part.Impressions = append(part.Impressions, im)
					}
					if err := e.Add(part); err != nil {
						t.Fatal(err)
					}
				}
			})
		})
	}
}

func TestPartsWithDifferentFeaturesAreAnError(t *testing.T) {
	logs := versions(t, 20, Bias{Alpha: []float64{1, .5, .3, .2}}, 5)
	for _, name := range []string{"em", "gains by naive", "values"} {
		e := estimations(t, Bias{Alpha: []float64{1, .5, .3, .2}})[name]
		other := &Log{Impressions: slices.Clone(logs[1].Impressions)}
		for i := range other.Impressions {
			im := &other.Impressions[i]
			im.Features = slices.Repeat(im.Features, 2)
		}
		if err := e.Add(logs[0]); err != nil {
			t.Fatal(err)
		}
		if err := e.Add(other); err == nil || !strings.Contains(err.Error(), "features a document, where others of the log have") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Features that are empty are none, and some parts of a log may have features where others have none.
func TestPartsWithoutFeaturesAreAdded(t *testing.T) {
	b := Bias{Alpha: []float64{1, .5, .3, .2}}
	logs := versions(t, 20, b, 5)
	empty := &Log{Impressions: slices.Clone(logs[1].Impressions)}
	for i := range empty.Impressions {
		empty.Impressions[i].Features = []float32{}
	}
	for _, parts := range [][]*Log{{logs[0], empty}, {empty, logs[0]}} {
		for name, e := range estimations(t, b) {
			for _, part := range parts {
				if err := e.Add(part); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			numbersOf(t, e)
		}
	}
}

// What an estimation says it says again, and what is added later is said too, or an error.
func TestEstimationsSayTheSameAgain(t *testing.T) {
	b := Bias{Alpha: []float64{1, .5, .3, .2}, Beta: []float64{.05, .04, .02, .01}}
	logs := versions(t, 50, b, 5)
	whole := estimations(t, b)
	for name, e := range estimations(t, b) {
		if err := e.Add(logs[0]); err != nil {
			t.Fatal(err)
		}
		first := numbersOf(t, e)
		if again := numbersOf(t, e); !slices.EqualFunc(first, again, same) {
			t.Errorf("%s: %v, and then %v", name, first, again)
		}
		if err := e.Add(logs[1]); err != nil {
			if !strings.Contains(err.Error(), "Add called after Estimate") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		for _, l := range logs {
			if err := whole[name].Add(l); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := numbersOf(t, e), numbersOf(t, whole[name]); !slices.EqualFunc(got, want, same) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func same(a, b float64) bool { return a == b || a != a && b != b }

// Intervals of 95 % contain the position bias in about as many of 25 logs, drawn by one model, interleaved, or known by labels,
// and do not depend on the parts in which a log comes.
func TestIntervalsContainTheBias(t *testing.T) {
	d, noisy := shop(30, 3)
	theta := []float64{1, .6, .4, .3, .2}
	relevance := func(im *Impression) ([]float64, error) {
		var r []float64
		for _, x := range im.Features {
			r = append(r, float64(x)/2)
		}
		return r, nil
	}
	for name, c := range map[string]struct {
		logger Logger
		new    func() *BiasEstimation
		logs   int
	}{
		"all-pairs":   {Logger{Scores: noisy(.3, 1), Cutoff: 5}, func() *BiasEstimation { e, _ := NewBiasEstimation(AllPairs); return e }, 25},
		"interleaved": {Logger{Model: "a", Scores: noisy(.3, 1), Cutoff: 5, Draft: true, Others: []Logger{{Model: "b", Scores: noisy(.6, 2)}}}, func() *BiasEstimation { e, _ := NewBiasEstimation(AllPairs); return e }, 25},
		"affine":      {Logger{Scores: noisy(.3, 1), Cutoff: 5}, func() *BiasEstimation { return NewAffineEstimation(relevance) }, 25},
		"em":          {Logger{Scores: noisy(.3, 1), Cutoff: 5}, func() *BiasEstimation { e, _ := NewBiasEstimation(RegressionEM); return e }, 5},
	} {
		covered, all := 0, 0
		for i := range c.logs {
			l, err := Simulate(d, c.logger, someUser, 1500, uint64(i))
			if err != nil {
				t.Fatal(err)
			}
			e := c.new()
			b, r, err := e.estimateLog(l)
			if err != nil {
				t.Fatal(name, err)
			}
			for k := 1; k < 5; k++ {
				want := theta[k]
				all++
				if r.Low[k] <= want && want <= r.High[k] {
					covered++
				}
				if width := r.High[k] - r.Low[k]; !(width > 0) || width > 1 || b.Alpha[k] < r.Low[k] || b.Alpha[k] > r.High[k] {
					t.Errorf("%s: α %v in %v … %v", name, b.Alpha[k], r.Low[k], r.High[k])
				}
			}
			if name == "all-pairs" && i == 0 {
				parts := c.new()
				for from := 0; from < 1500; from += 500 {
					if err := parts.Add(&Log{Impressions: l.Impressions[from : from+500], FeatureIDs: l.FeatureIDs}); err != nil {
						t.Fatal(err)
					}
				}
				if _, again, err := parts.Estimate(); err != nil || !floats.EqualApprox(again.Low, r.Low, 1e-9) {
					t.Errorf("%v in parts, %v at once, %v", again.Low, r.Low, err)
				}
			}
		}
		t.Logf("%s: %d of %d intervals contain the bias", name, covered, all)
		if share := float64(covered) / float64(all); share < .88 {
			t.Errorf("%s: %d of %d intervals contain the bias", name, covered, all)
		}
	}
}
