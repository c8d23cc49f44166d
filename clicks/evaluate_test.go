package clicks

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/plackett"
)

// A list is a small query whose clicks and policies are known.
type list struct {
	query          string
	relevance      []float64
	logged, target []float64
	features       []float32
	documents      []string
	ranks          int
	clicks         func(relevance []float64) []float64 // expected, by rank
}

var smallBias = Bias{Alpha: []float64{1, .6, .3}, Beta: []float64{.05, .03, .02}}

// smallLists are two queries in different folds.
func smallLists(clicks func([]float64) []float64) []list {
	a := list{query: "red shoes", relevance: []float64{.9, .1, .4, .2}, logged: []float64{.3, -.4, 1.1, 0}, target: []float64{2, -1, 0, .5},
		features: []float32{3, 1, -4, 1, 5, 9, -2, 6}, ranks: 3, clicks: clicks}
	b := list{query: "blue shoes", relevance: []float64{.3, .8, .5, .6}, logged: []float64{1, .5, -.2, .4}, target: []float64{-1, 1, 2, 0},
		features: []float32{5, 3, 5, -8, 9, 7, 9, 3}, ranks: 3, clicks: clicks}
	lists := []list{a, b}
	for i := range lists {
		lists[i].documents = []string{"a", "b", "c", "d"}
	}
	return lists
}

// affineClicks are the expected clicks of the affine model.
func affineClicks(relevance []float64) []float64 {
	c := make([]float64, len(relevance))
	for k, r := range relevance {
		c[k] = smallBias.Alpha[k]*r + smallBias.Beta[k]
	}
	return c
}

// cascadeClicks returns the clicks of users who stop at their first click.
func cascadeClicks(relevance []float64) []float64 {
	c := make([]float64, len(relevance))
	examined := 1.0
	for k, r := range relevance {
		c[k] = examined * r
		examined *= 1 - r
	}
	return c
}

// shown is the impression of a ranking with the clicks that are expected.
func (l list) shown(ranking []int) Impression {
	im := Impression{Query: l.query, Documents: l.documents, Features: l.features, Scores: l.logged, Cutoff: l.ranks, Shown: append([]int(nil), ranking...)}
	var relevance []float64
	for _, d := range ranking {
		relevance = append(relevance, l.relevance[d])
	}
	im.Clicks = l.clicks(relevance)
	return im
}

// value is the expected number of clicks under scores, by enumeration.
func (l list) value(t *testing.T, scores []float64) float64 {
	sum := 0.0
	if err := testkit.Enumerate(scores, l.ranks, func(y []int, p float64) {
		for _, c := range l.shown(y).Clicks {
			sum += p * c
		}
	}); err != nil {
		t.Fatal(err)
	}
	return sum
}

// Over all pairs of rankings that the policy of the log can draw, the mean of an estimate is
// the true value, wherever the assumptions of the estimator hold.
func TestEstimatorsAreUnbiased(t *testing.T) {
	for _, c := range []struct {
		name       string
		clicks     func([]float64) []float64
		estimators []Estimator
	}{
		{"affine", affineClicks, ValueEstimators()},
		{"cascade", cascadeClicks, []Estimator{RIPS, WholeRanking}},
	} {
		t.Run(c.name, func(t *testing.T) {
			lists := smallLists(c.clicks)
			targets := map[string][]float64{}
			want := 0.0
			for _, l := range lists {
				targets[l.query] = l.target
				want += l.value(t, l.target) / float64(len(lists))
			}
			target := Target{Policy: func(im *Impression) ([]float64, error) { return targets[im.Query], nil }, Bias: smallBias, Bootstrap: metrics.Bootstrap{Resamples: 1}}
			mean := make([]float64, len(c.estimators))
			forEachRanking(t, lists[0], func(first Impression, p0 float64) {
				forEachRanking(t, lists[1], func(second Impression, p1 float64) {
					got, err := Evaluate(&Log{Impressions: []Impression{first, second}}, target, c.estimators...)
					if err != nil {
						t.Fatal(err)
					}
					for j, e := range got {
						mean[j] += p0 * p1 * e.Value
					}
				})
			})
			for j, e := range c.estimators {
				if math.Abs(mean[j]-want) > 1e-12 {
					t.Errorf("%s: mean %v, want %v", e, mean[j], want)
				}
			}
		})
	}
}

// forEachRanking visits the rankings of a list with their probabilities under the policy of the log.
func forEachRanking(t *testing.T, l list, visit func(im Impression, probability float64)) {
	if err := testkit.Enumerate(l.logged, l.ranks, func(y []int, p float64) { visit(l.shown(y), p) }); err != nil {
		t.Fatal(err)
	}
}

// With the policy of the log for target, all weights are 1 and the value is the mean of the
// clicks.
func TestLoggedPolicyHasTheValueOfTheLog(t *testing.T) {
	log := simulated(t, 20, 5, 200)
	want := 0.0
	for _, im := range log.Impressions {
		for _, c := range im.Clicks {
			want += c / 200
		}
	}
	got, err := Evaluate(log, Target{Policy: Logged, Baseline: Logged, Bias: Bias{Alpha: theta(5)}}, IIPS, PolicyAware, RIPS, WholeRanking)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range got {
		if math.Abs(e.Value-want) > 1e-12 || math.Abs(e.EffectiveSize-200) > 1e-9 || e.LargestWeight != 1 || e.Difference != (metrics.Interval{}) {
			t.Errorf("%+v, want the value %v of 200 impressions", e, want)
		}
	}
}

// A clip bounds the weights of the target alone, so that it cannot raise the difference from a baseline. If every document
// shown is clicked, all policies are equal.
func TestClipDoesNotLowerTheBaseline(t *testing.T) {
	log, err := Simulate(fifty(20), Logger{Scores: byFeature(.3), Cutoff: 5}, User{Attraction: func(float32) float64 { return 1 }}, 300, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		target, baseline PolicyFunc
	}{{sharper, Logged}, {Logged, sharper}} {
		got, err := Evaluate(log, Target{Policy: c.target, Baseline: c.baseline, Bias: Bias{Alpha: []float64{1, 1, 1, 1, 1}}}, "iips(0.2)", "policy-aware(0.2)")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range got {
			if e.Difference.Low > 0 {
				t.Errorf("%s: difference %+v of equal policies", e.Estimator, e.Difference)
			}
		}
	}
	got, err := Evaluate(log, Target{Policy: Logged, Baseline: Logged}, "iips(0.2)")
	if err != nil || math.Abs(got[0].Value-5) > 1e-12 || got[0].Difference.Mean != 0 {
		t.Errorf("%+v, %v; want the value 5 of the log", got, err)
	}
}

// An estimate says how many units it comes from, and how much the log says about the baseline.
func TestEstimatesTellUnitsAndTheSizeOfTheBaseline(t *testing.T) {
	log := simulated(t, 20, 5, 2000)
	byQuery := func(im *Impression) string { return im.Query }
	estimates, err := Evaluate(log, Target{Policy: sharper, Baseline: Logged, Unit: byQuery}, IIPS, RIPS)
	if err != nil {
		t.Fatal(err)
	}
	from, err := Evaluate(log, Target{Policy: Logged, Baseline: sharper, Unit: byQuery}, IIPS, RIPS)
	if err != nil {
		t.Fatal(err)
	}
	for j := range estimates {
		if estimates[j].Units != 50 || math.Abs(estimates[j].BaselineSize-2000) > 1e-9 || estimates[j].EffectiveSize != from[j].BaselineSize {
			t.Errorf("%+v, and %+v the other way round", estimates[j], from[j])
		}
	}
}

// theta is 1, 1/2, …, 1/n.
func theta(n int) []float64 {
	t := make([]float64, n)
	for k := range t {
		t[k] = 1 / float64(k+1)
	}
	return t
}

// fifty returns fifty queries with this many documents, with labels and a noisy feature of them.
func fifty(documents int) *datasets.Dataset {
	d := &datasets.Dataset{Offsets: []int{0}, FeatureIDs: []int{1}}
	noise := make([]float64, documents)
	for q := range 50 {
		plackett.Gumbel(plackett.Stream{Seed: 7, Query: uint64(q)}, 0, noise)
		for i, g := range noise {
			label := float32(min(4, max(0, math.Floor(g+.5))))
			d.Labels = append(d.Labels, label)
			d.Features = append(d.Features, label+float32(noise[(i+1)%documents]))
		}
		d.QueryIDs = append(d.QueryIDs, fmt.Sprint("query ", q))
		d.Offsets = append(d.Offsets, len(d.Labels))
	}
	return d
}

// byFeature scores documents by their feature.
func byFeature(times float64) func(d *datasets.Dataset, q int) ([]float64, error) {
	return func(d *datasets.Dataset, q int) (scores []float64, err error) {
		for _, f := range d.Features[d.Offsets[q]:d.Offsets[q+1]] {
			scores = append(scores, times*float64(f))
		}
		return scores, nil
	}
}

func simulated(t *testing.T, documents, cutoff, n int) *Log {
	log, err := Simulate(fifty(documents), Logger{Scores: byFeature(.3), Cutoff: cutoff}, User{Behaviour: PositionBased(theta(cutoff))}, n, 1)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// sharper ranks by the feature with less noise than the logging policy.
func sharper(im *Impression) ([]float64, error) {
	var scores []float64
	for _, f := range im.Features {
		scores = append(scores, .6*float64(f))
	}
	return scores, nil
}

// The value of a policy from the log of another agrees with a log of its own.
func TestEstimatesAgreeWithTheTargetInUse(t *testing.T) {
	const n = 8000
	log := simulated(t, 20, 5, n)
	own, err := Simulate(fifty(20), Logger{Scores: byFeature(.6), Cutoff: 5}, User{Behaviour: PositionBased(theta(5))}, n, 2)
	if err != nil {
		t.Fatal(err)
	}
	var clicked []float64
	for _, im := range own.Impressions {
		clicked = append(clicked, stat.Mean(im.Clicks, nil)*5)
	}
	want, sd := stat.MeanStdDev(clicked, nil)
	se := sd / math.Sqrt(n)
	got, err := Evaluate(log, Target{Policy: sharper, Baseline: Logged, Bias: Bias{Alpha: theta(5)}, Bootstrap: metrics.Bootstrap{Resamples: 400}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range got {
		half := (e.High - e.Low) / 2
		if math.Abs(e.Value-want) > 2*math.Hypot(half, 2*se) || half > .08 {
			t.Errorf("%+v, want %v", e, want)
		}
		if !(e.Difference.Low > 0) || e.EffectiveSize > n || e.EffectiveSize < n/20 {
			t.Errorf("%s: difference %+v, effective size %v", e.Estimator, e.Difference, e.EffectiveSize)
		}
	}
	if len(got) != 3 || got[2].High-got[2].Low > got[0].High-got[0].Low {
		t.Errorf("dr is not narrower than iips: %+v", got)
	}
}

func TestSameSeedSameBits(t *testing.T) {
	run := func(workers int) (*Log, []Estimate) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
		log := simulated(t, 12, 4, 3000)
		got, err := Evaluate(log, Target{Policy: sharper, Baseline: Logged, Bias: Bias{Alpha: theta(4)}, Bootstrap: metrics.Bootstrap{Resamples: 50}}, ValueEstimators()...)
		if err != nil {
			t.Fatal(err)
		}
		return log, got
	}
	log, estimates := run(1)
	again, same := run(4)
	if !reflect.DeepEqual(log, again) || !reflect.DeepEqual(estimates, same) {
		t.Errorf("%+v with four workers, %+v with one", same, estimates)
	}
}

// Impressions that share slices show many documents, and all placements are computed. For the others only the documents
// shown have placements. The regression of dr adds up in another order, and is left out.
func TestEstimatesDoNotDependOnSharedSlices(t *testing.T) {
	shared := simulated(t, 20, 5, 2000)
	own := &Log{}
	for _, im := range shared.Impressions {
		im.Scores = slices.Clone(im.Scores)
		own.Impressions = append(own.Impressions, im)
	}
	target := Target{Policy: sharper, Baseline: Logged, Bias: Bias{Alpha: theta(5)}, Bootstrap: metrics.Bootstrap{Resamples: 100}}
	want, err := Evaluate(shared, target, IIPS, PolicyAware)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Evaluate(own, target, IIPS, PolicyAware)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range got {
		for name, x := range map[string][2]float64{"value": {e.Value, want[i].Value}, "low": {e.Low, want[i].Low},
			"difference": {e.Difference.Low, want[i].Difference.Low}, "largest weight": {e.LargestWeight, want[i].LargestWeight}} {
			if !(math.Abs(x[0]-x[1]) <= 1e-13) {
				t.Errorf("%s of %s: %v, with shared slices %v", name, e.Estimator, x[0], x[1])
			}
		}
	}
}

// Units are resampled as a whole: copies of every impression change nothing if they are one
// unit.
func TestUnitsAreResampledTogether(t *testing.T) {
	log := simulated(t, 8, 3, 300)
	target := Target{Policy: sharper, Bootstrap: metrics.Bootstrap{Resamples: 200}}
	single, err := Evaluate(log, target, IIPS)
	if err != nil {
		t.Fatal(err)
	}
	log.Impressions = append(log.Impressions, log.Impressions...)
	target.Unit = func(im *Impression) string { return im.ID }
	double, err := Evaluate(log, target, IIPS)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(single[0].Low-double[0].Low) > 1e-12 || math.Abs(single[0].High-double[0].High) > 1e-12 {
		t.Errorf("%+v, want the interval of %+v", double[0], single[0])
	}
}

func TestImpossibleRankingsAreErrors(t *testing.T) {
	log := &Log{Impressions: []Impression{{ID: "r1", Query: "q", Documents: []string{"a", "b"}, Scores: []float64{1000, 0}, Shown: []int{1}, Clicks: []float64{1}}}}
	uniform := func(im *Impression) ([]float64, error) { return make([]float64, 2), nil }
	bias := Bias{Alpha: []float64{1}}
	for _, e := range []Estimator{IIPS, PolicyAware, DR} {
		_, err := Evaluate(log, Target{Policy: uniform, Bias: bias}, e)
		if err == nil || !strings.Contains(err.Error(), `clicks: impression "r1" (query "q"): `+string(e)+`: document "b" at rank 1 has the probability`) {
			t.Errorf("%s: error %v", e, err)
		}
		if _, err := Evaluate(log, Target{Policy: uniform, Bias: bias}, e+"(0)"); err == nil || !strings.Contains(err.Error(), "has the probability") {
			t.Errorf("%s with clip 0: error %v", e, err)
		}
		// For a baseline too, and there a clip does no more than make a number of it.
		for _, name := range []Estimator{e, e + "(0)"} {
			if _, err := Evaluate(log, Target{Policy: Logged, Baseline: uniform, Bias: bias}, name); err == nil || !strings.Contains(err.Error(), "has the probability") {
				t.Errorf("%s of a baseline: error %v", name, err)
			}
		}
		if got, err := Evaluate(log, Target{Policy: Logged, Baseline: uniform, Bias: bias}, e+"(0.01)"); err != nil || !(got[0].Difference.Mean < -1e10) {
			t.Errorf("%s of a baseline with clip .01: %+v, %v", e, got, err)
		}
		got, err := Evaluate(log, Target{Policy: uniform, Bias: bias}, e+"(0.01)")
		if err != nil || math.Abs(got[0].Value-50) > 1e-9 {
			t.Errorf("%s with clip .01: %+v, %v; want .5/.01", e, got, err)
		}
	}
	if _, err := Evaluate(log, Target{Policy: uniform}, WholeRanking); err == nil || !strings.Contains(err.Error(), "beyond the range of float64") {
		t.Errorf("whole-ranking: error %v", err)
	}
	log.Impressions[0].Shown[0] = 0
	got, err := Evaluate(log, Target{Policy: uniform, Bias: bias}, ValueEstimators()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range got {
		if math.Abs(e.Value-.5) > 1e-12 {
			t.Errorf("%+v, want the value .5", e)
		}
	}
}

func TestInvalidEvaluationsAreErrors(t *testing.T) {
	valid := func() Impression {
		return Impression{ID: "r1", Query: "q", Documents: []string{"a", "b"}, Scores: []float64{1, 0}, Shown: []int{1, 0}, Clicks: []float64{1, 0}}
	}
	for _, c := range []struct {
		change    func(im *Impression)
		bias      Bias
		estimator Estimator
		want      string
	}{
		{func(im *Impression) { im.Scores = nil }, Bias{}, IIPS, "no scores"},
		{func(im *Impression) { im.Scores = []float64{1} }, Bias{}, IIPS, "1 scores for 2 documents"},
		{func(im *Impression) { im.Scores = []float64{1, math.NaN()} }, Bias{}, IIPS, `the score of document "b" is NaN`},
		{func(im *Impression) { im.Shown = []int{1, 1} }, Bias{}, IIPS, `document "b" is shown twice`},
		{func(im *Impression) { im.Shown = []int{2, 1} }, Bias{}, IIPS, "document 2 of 2 at rank 1"},
		{func(im *Impression) { im.Clicks = []float64{1} }, Bias{}, IIPS, "1 clicks for 2 ranks"},
		{func(im *Impression) { im.Clicks = []float64{1, math.Inf(1)} }, Bias{}, IIPS, "the click at rank 2 is +Inf"},
		{func(im *Impression) { im.Features = []float32{1, 2, 3} }, Bias{}, IIPS, "3 features for 2 documents"},
		{func(im *Impression) { im.Temperature = -1 }, Bias{}, IIPS, "temperature -1"},
		{func(im *Impression) { im.Temperature = 1e-320 }, Bias{}, IIPS, "divided by the temperature"},
		{func(*Impression) {}, Bias{}, DR, "no position bias"},
		{func(*Impression) {}, Bias{Alpha: []float64{1}}, DR, "2 ranks shown, but the position bias has only 1"},
		{func(*Impression) {}, Bias{Alpha: []float64{1, -1}}, DR, "the position bias of rank 2 is -1"},
		{func(*Impression) {}, Bias{Alpha: []float64{1, 1}, Beta: []float64{1}}, DR, "1 entries of beta and 2 of alpha"},
		{func(*Impression) {}, Bias{}, "iip", "did you mean iips?"},
		{func(*Impression) {}, Bias{}, Naive, "unknown estimator"},
		{func(*Impression) {}, Bias{}, "iips(2)", "invalid estimator"},
		{func(*Impression) {}, Bias{}, "rips(.1)", "invalid estimator"},
	} {
		im := valid()
		c.change(&im)
		_, err := Evaluate(&Log{Impressions: []Impression{im}}, Target{Policy: Logged, Bias: c.bias}, c.estimator)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	if _, err := Evaluate(&Log{}, Target{Policy: Logged}); err == nil {
		t.Error("no impressions: no error")
	}
	if _, err := Evaluate(&Log{Impressions: []Impression{valid()}}, Target{}); err == nil {
		t.Error("no policy: no error")
	}
	empty := Impression{Query: "nothing"}
	if got, err := Evaluate(&Log{Impressions: []Impression{valid(), empty}}, Target{Policy: Logged}); err != nil || got[0].Value != .5 {
		t.Errorf("%+v, %v; want the value .5 with an impression of nothing", got, err)
	}
}

// A log that comes in parts has the same estimates, except for the regression of dr.
func TestPartsHaveTheEstimatesOfTheWhole(t *testing.T) {
	log := simulated(t, 12, 4, 3000)
	target := Target{Policy: sharper, Baseline: Logged, Bias: Bias{Alpha: theta(4)}, Bootstrap: metrics.Bootstrap{Resamples: 50}, Unit: func(im *Impression) string { return im.Query }}
	want, err := Evaluate(log, target, ValueEstimators()...)
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEvaluation(target, ValueEstimators()...)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(log.Impressions); i += 1000 {
		if err := e.Add(&Log{Impressions: log.Impressions[i : i+1000], FeatureIDs: log.FeatureIDs}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := e.Estimates()
	if err != nil {
		t.Fatal(err)
	}
	for j, w := range want {
		g := got[j]
		within := 1e-12
		if w.Estimator == DR {
			within = .1 * (w.High - w.Low)
		}
		for _, pair := range [][2]float64{{g.Value, w.Value}, {g.Low, w.Low}, {g.High, w.High}, {g.Difference.Low, w.Difference.Low}} {
			if math.Abs(pair[0]-pair[1]) > within {
				t.Errorf("%+v in parts, %+v as a whole", g, w)
			}
		}
		if math.Abs(g.EffectiveSize/w.EffectiveSize-1) > 1e-12 || g.LargestWeight != w.LargestWeight || g.Impressions != 3000 {
			t.Errorf("%+v in parts, %+v as a whole", g, w)
		}
	}
}

// Beyond a number of units, others are merged into them: none is lost.
func TestUnitsBeyondTheMostAreMerged(t *testing.T) {
	log := simulated(t, 3, 1, 3*mostUnits)
	target := Target{Policy: Logged, Bootstrap: metrics.Bootstrap{Resamples: 2}, Unit: func(im *Impression) string { return im.ID }}
	e, err := NewEvaluation(target)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Add(log); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, c := range e.counts {
		sum += c
	}
	if len(e.counts) != mostUnits || sum != 3*mostUnits || len(e.units) != mostUnits {
		t.Errorf("%d units with %v impressions", len(e.counts), sum)
	}
}

// Intervals of estimators with ratios of rankings contain the true value as often as their level says, also where a log lacks the
// largest weights. The logs have 1000 impressions, and the target is twice as sharp as the logging policy.
func TestIntervalsHoldWhereALogLacksLargeWeights(t *testing.T) {
	const logs, queries = 40, 50
	scores := func(features []float32, sharpness float64) (s []float64) {
		for _, f := range features {
			s = append(s, sharpness*float64(f))
		}
		return s
	}
	all := 0.0
	for _, size := range []struct {
		documents, ranks int
		sharpness        float64 // of the logging policy
	}{{10, 3, 1}, {50, 10, 2}, {200, 10, 2}} {
		random := rand.New(rand.NewPCG(1, 0))
		d := &datasets.Dataset{Offsets: []int{0}, FeatureIDs: []int{1}}
		for q := range queries {
			for range size.documents {
				label := random.Float32()
				d.Labels, d.Features = append(d.Labels, label), append(d.Features, label+.3*float32(random.NormFloat64()))
			}
			d.QueryIDs, d.Offsets = append(d.QueryIDs, strconv.Itoa(q)), append(d.Offsets, len(d.Labels))
		}
		truth, theta := 0.0, theta(size.ranks)
		var expectation plackett.Expectation
		for q := range queries {
			from, to := d.Offsets[q], d.Offsets[q+1]
			relevance := make([]float64, to-from)
			for i, label := range d.Labels[from:to] {
				relevance[i] = float64(label)
			}
			value, err := expectation.Gradient(scores(d.Features[from:to], 2*size.sharpness), relevance, theta, make([]float64, to-from))
			if err != nil {
				t.Fatal(err)
			}
			truth += value / queries
		}
		logging := Logger{Cutoff: size.ranks, Scores: func(d *datasets.Dataset, q int) ([]float64, error) {
			return scores(d.Features[d.Offsets[q]:d.Offsets[q+1]], size.sharpness), nil
		}}
		user := User{Behaviour: PositionBased(theta), Attraction: func(label float32) float64 { return float64(label) }}
		covering := map[Estimator]float64{}
		for seed := range uint64(logs) {
			log, err := Simulate(d, logging, user, 1000, seed)
			if err != nil {
				t.Fatal(err)
			}
			target := Target{Bootstrap: metrics.Bootstrap{Resamples: 100, Seed: seed}, Policy: func(im *Impression) ([]float64, error) { return scores(im.Features, 2*size.sharpness), nil }}
			estimates, err := Evaluate(log, target, RIPS, WholeRanking)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range estimates {
				if e.Low <= truth && truth <= e.High {
					covering[e.Estimator] += 1. / logs
					all += 1. / (6 * logs)
				}
			}
		}
		t.Logf("%+v: %v", size, covering)
		for _, e := range []Estimator{RIPS, WholeRanking} {
			if covering[e] < 0.88 { // two standard deviations below .95
				t.Errorf("%+v: intervals of %s have the value in %v of the logs", size, e, covering[e])
			}
		}
	}
	if all < 0.92 { // two standard deviations
		t.Errorf("intervals have the value in %v of the logs", all)
	}
}

// Intervals of other estimators have a caution if few large weights decide.
func TestFewLargeWeightsHaveACaution(t *testing.T) {
	// Neither a short log nor one of the policy itself makes weights uneven.
	log := simulated(t, 20, 5, 200)
	for _, e := range []Estimator{IIPS, RIPS, WholeRanking} {
		if got, err := Evaluate(log, Target{Policy: Logged, Baseline: Logged}, e); err != nil || got[0].Caution != "" {
			t.Errorf("%s of the policy of the log: %+v, %v", e, got, err)
		}
	}
	sharper := func(im *Impression) (scores []float64) {
		for _, f := range im.Features {
			scores = append(scores, 30*float64(f))
		}
		return scores
	}
	// The baseline counts, too.
	if got, err := Evaluate(log, Target{Policy: Logged, Baseline: func(im *Impression) ([]float64, error) { return sharper(im), nil }}, IIPS); err != nil || !strings.Contains(got[0].Caution, "few large weights decide") {
		t.Errorf("%+v, %v", got, err)
	}
}
