package variance

import (
	"context"
	"errors"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/internal/testkit"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/plackett"
)

func measure(t *testing.T, lists []List, discounts []float64, o Options) []Traces {
	t.Helper()
	traces, err := Measure(t.Context(), lists, discounts, o)
	if err != nil {
		t.Fatal(err)
	}
	return traces
}

var (
	rb      = plackett.PLRankRB.String()
	plRank2 = plackett.PLRank2.String()
)

// exact is the trace of one sample's λ by enumeration of all rankings.
func exact(t *testing.T, e plackett.Estimator, l List, discounts []float64) float64 {
	t.Helper()
	var kernel plackett.Kernel
	mean, lambda := make([]float64, len(l.Scores)), make([]float64, len(l.Scores))
	square := 0.0
	err := testkit.Enumerate(l.Scores, len(discounts), func(ranking []int, p float64) {
		if _, err := kernel.Gradient(e, l.Scores, l.Gains, discounts, plackett.Rankings{Documents: ranking, Cutoff: len(ranking)}, lambda); err != nil {
			t.Fatal(err)
		}
		for d, x := range lambda {
			mean[d] += p * x
			square += p * x * x
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mean {
		square -= m * m
	}
	return square
}

// agree fails where a trace is more than five standard errors from what it should be.
func agree(t *testing.T, what string, got, stdErr, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 5*stdErr+1e-12) {
		t.Errorf("%s: %.5g ± %.2g, want %.5g", what, got, stdErr, want)
	}
}

// tiny are lists whose rankings can be enumerated, flat enough that twenty
// thousand samples see all that matters.
var tiny = []List{
	{Scores: []float64{0.3, -1.1, 0.8}, Gains: []float64{0, 1, 3}},
	{Scores: []float64{0, 0, 0, 0}, Gains: []float64{15, 0, 0, 1}},
	{Scores: []float64{1.2, -0.4, 0.1, 0.9, -1}, Gains: []float64{0, 3, -1, 7, 1}}, // gains may be negative
}

func TestOneSampleByEnumeration(t *testing.T) {
	for _, cutoff := range []int{1, 2, 3, 7} { // 7: more than there are documents
		discounts := metrics.Discounts(cutoff)
		for i, traces := range measure(t, tiny, discounts, Options{Samples: 1, Repeats: 20000, Seed: 3}) {
			for _, e := range estimators {
				trace, stdErr := traces.Trace(e.String())
				want := exact(t, e, tiny[i], discounts)
				agree(t, e.String(), trace, stdErr, want)
				if stdErr > 0.05*want+1e-14 {
					t.Errorf("list %d, K=%d, %s: ± %.2g of %.3g says little", i, cutoff, e, stdErr, want)
				}
			}
		}
	}
}

// The example that docs/pl-rank-rb.md works out by hand.
func TestByHand(t *testing.T) {
	list := []List{{Scores: []float64{0, math.Ln2}, Gains: []float64{1, 0}}}
	discounts := []float64{1, 0.5}
	one := measure(t, list, discounts, Options{Samples: 1, Repeats: 50000})[0]
	trace, stdErr := one.Trace(rb)
	agree(t, "PL-Rank-RB, one sample", trace, stdErr, 4./81)
	trace, stdErr = one.Trace(plRank2)
	agree(t, "PL-Rank-2, one sample", trace, stdErr, 13./81)
	ratio, stdErr := one.Ratio(rb, plRank2)
	agree(t, "their ratio", ratio, stdErr, 4./13)
	// Two samples with baselines that leave one out: λ_1 is 2/9 with probability
	// 5/9 and −1/36 with 4/9, and λ_2 = −λ_1.
	two := measure(t, list, discounts, Options{Samples: 2, Repeats: 50000})[0]
	trace, stdErr = two.Trace(rb)
	agree(t, "PL-Rank-RB, two samples", trace, stdErr, 2*(5./9)*(4./9)*math.Pow(2./9+1./36, 2))
}

// Few repeats are as right on average as many.
func TestTwoRepeatsAreUnbiased(t *testing.T) {
	copies := slices.Repeat(tiny[:1], 5000) // each has rankings of its own
	discounts := metrics.Discounts(2)
	for _, e := range estimators {
		var traces []float64
		for _, l := range measure(t, copies, discounts, Options{Samples: 1, Repeats: 2}) {
			trace, _ := l.Trace(e.String())
			traces = append(traces, trace)
		}
		mean, sd := stat.MeanStdDev(traces, nil)
		agree(t, e.String(), mean, sd/math.Sqrt(5000), exact(t, e, tiny[0], discounts))
	}
}

// Without a baseline, samples are independent: N of them have 1/N of the variance.
func TestSamplesDivideTheTrace(t *testing.T) {
	discounts := metrics.Discounts(2)
	for _, samples := range []int{2, 10, 100} {
		for i, traces := range measure(t, tiny, discounts, Options{Samples: samples, Repeats: 5000, Seed: 4}) {
			for _, e := range []plackett.Estimator{plackett.PolicyGradient, plackett.PLRank1, plackett.PLRank2} {
				trace, stdErr := traces.Trace(e.String())
				agree(t, e.String(), trace*float64(samples), stdErr*float64(samples), exact(t, e, tiny[i], discounts))
			}
		}
	}
}

// With one place PL-Rank-RB is not random, however peaked the scores.
func TestRBHasNoVarianceAtCutoff1(t *testing.T) {
	for _, sd := range []float64{0, 1, 20, 500} {
		for _, samples := range []int{1, 2, 10} {
			for _, traces := range measure(t, Normal(10, 30, sd, 1), []float64{1}, Options{Samples: samples, Repeats: 20}) {
				if trace, stdErr := traces.Trace(rb); trace != 0 || stdErr != 0 {
					t.Errorf("sd %v, N=%d: %v ± %v", sd, samples, trace, stdErr)
				}
			}
		}
	}
}

// What is said of the errors is what traces and ratios of many seeds differ by.
func TestStandardErrors(t *testing.T) {
	lists, discounts := Normal(3, 20, 1, 2), metrics.Discounts(5)
	const seeds = 400
	var measured []Traces
	for seed := range uint64(seeds) {
		measured = append(measured, Mean(measure(t, lists, discounts, Options{Samples: 2, Repeats: 100, Seed: seed})))
	}
	for _, e := range estimators {
		var traces, ratios []float64
		var traceErr, ratioErr float64 // mean squares
		for _, m := range measured {
			trace, stdErr := m.Trace(e.String())
			traces, traceErr = append(traces, trace), traceErr+stdErr*stdErr/seeds
			ratio, stdErr := m.Ratio(e.String(), plRank2)
			ratios, ratioErr = append(ratios, ratio), ratioErr+stdErr*stdErr/seeds
		}
		// The spread of 400 numbers is known to 1/√800 = 3.5 %, a little
		// less well for skew ones.
		if got, want := math.Sqrt(traceErr), stat.StdDev(traces, nil); math.Abs(got/want-1) > 0.2 {
			t.Errorf("%s: a standard error of %.3g, but traces differ by %.3g", e, got, want)
		}
		got, want := math.Sqrt(ratioErr), stat.StdDev(ratios, nil)
		if e == plackett.PLRank2 {
			if got != 0 || want != 0 {
				t.Errorf("the ratio of a trace to itself is 1, but ± %v, %v", got, want)
			}
		} else if math.Abs(got/want-1) > 0.2 {
			t.Errorf("%s: a standard error of %.3g, but ratios differ by %.3g", e, got, want)
		}
	}
}

func TestAnyNumberOfCores(t *testing.T) {
	lists := Normal(20, 30, 2, 5)
	o := Options{Samples: 3, Repeats: 10, Seed: 6}
	want := measure(t, lists, metrics.Discounts(5), o)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if !reflect.DeepEqual(measure(t, lists, metrics.Discounts(5), o), want) {
		t.Error("one core measures something else")
	}
	// A list is what it is, whatever follows it; and seeds differ.
	if got := measure(t, lists[:7], metrics.Discounts(5), o); !reflect.DeepEqual(got, want[:7]) {
		t.Error("the first lists alone have other traces")
	}
	o.Seed++
	if reflect.DeepEqual(measure(t, lists[:1], metrics.Discounts(5), o)[0], want[0]) {
		t.Error("another seed, the same estimates")
	}
}

func TestOneDocumentOrNoGainHasNoVariance(t *testing.T) {
	lists := []List{
		{}, // no documents
		{Scores: []float64{0.7}, Gains: []float64{3}},
		{Scores: []float64{1, 2, 3}, Gains: []float64{0, 0, 0}},
	}
	for i, traces := range measure(t, lists, metrics.Discounts(5), Options{}) {
		for _, e := range estimators {
			if trace, stdErr := traces.Trace(e.String()); trace != 0 || stdErr != 0 {
				t.Errorf("list %d, %s: %v ± %v", i, e, trace, stdErr)
			}
			if ratio, stdErr := traces.Ratio(e.String(), plRank2); !math.IsNaN(ratio) || !math.IsNaN(stdErr) {
				t.Errorf("list %d, %s: 0/0 = %v ± %v", i, e, ratio, stdErr)
			}
		}
	}
	if got := measure(t, nil, metrics.Discounts(5), Options{}); len(got) != 0 {
		t.Error(got)
	}
	if trace, _ := Mean(nil).Trace(plRank2); !math.IsNaN(trace) {
		t.Errorf("the mean of nothing is %v", trace)
	}
}

func TestMeanAveragesTracesOverQueries(t *testing.T) {
	lists := measure(t, tiny, metrics.Discounts(3), Options{Repeats: 50})
	var trace, variance float64
	for _, l := range lists {
		x, stdErr := l.Trace(rb)
		trace += x / 3
		variance += stdErr * stdErr / 9
	}
	got, stdErr := Mean(lists).Trace(rb)
	if math.Abs(got-trace) > 1e-14 || math.Abs(stdErr-math.Sqrt(variance)) > 1e-14 {
		t.Errorf("%v ± %v, want %v ± %v", got, stdErr, trace, math.Sqrt(variance))
	}
}

func TestMeasureRejectsInvalidInput(t *testing.T) {
	good := tiny[0]
	for _, c := range []struct {
		list List
		o    Options
		want string
	}{
		{List{Scores: []float64{1, math.NaN()}, Gains: []float64{1, 0}}, Options{}, "variance: list 1: the score of document 1 is NaN"},
		{List{Scores: []float64{1, 2}, Gains: []float64{1}}, Options{}, "variance: list 1: 2 scores and 1 gains"},
		{good, Options{Samples: -1}, "-1 samples"},
		{good, Options{Repeats: 1}, "1 repeats: want 1 and 2 or more"},
	} {
		_, err := Measure(t.Context(), []List{good, c.list}, metrics.Discounts(2), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Measure(ctx, tiny, metrics.Discounts(2), Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
