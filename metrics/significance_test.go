package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"
)

// Student's sleep data, ?sleep in R.
var (
	sleep1 = []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	sleep2 = []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
)

func TestPairedTAgreesWithR(t *testing.T) {
	got, err := PairedT(sleep1, sleep2)
	if err != nil {
		t.Fatal(err)
	}
	// R: t.test(extra ~ group, sleep, paired = TRUE)
	// t = -4.0621, df = 9, p-value = 0.002833, mean of the differences -1.58
	if math.Abs(got.Statistic+4.0621) > 5e-5 || math.Abs(got.PValue-0.002833) > 5e-7 || !near(got.Difference, -1.58, 1e-14) || got.Pairs != 10 {
		t.Errorf("sleep: %+v", got)
	}
	for _, c := range []struct {
		a, b []float64
		t, p float64
	}{
		{[]float64{1, 2, 3}, []float64{1, 2, 3}, 0, 1},
		{[]float64{1, 2, 3}, []float64{0, 1, 2}, math.Inf(1), 0},
		{[]float64{1, 2}, []float64{2, 1}, 0, 1},
	} {
		got, err := PairedT(c.a, c.b)
		if err != nil || got.Statistic != c.t || got.PValue != c.p {
			t.Errorf("%v and %v: %+v, %v", c.a, c.b, got, err)
		}
	}
}

func TestHolmAdjustsStepDown(t *testing.T) {
	// R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
	got, err := Holm([]float64{0.01, 0.04, 0.03, 0.005})
	if want := []float64{0.03, 0.06, 0.06, 0.02}; err != nil || !floats.EqualApprox(got, want, 1e-15) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, p := range []float64{-0.1, 1.1, math.NaN()} {
		if _, err := Holm([]float64{0.5, p}); err == nil || !strings.Contains(err.Error(), "p-value 1 is") {
			t.Errorf("%v: %v", p, err)
		}
	}
	// Between p and Bonferroni's m·p, in the same order, and the smallest is Bonferroni's.
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 20).Draw(t, "p")
		got, err := Holm(p)
		if err != nil {
			t.Fatal(err)
		}
		m := float64(len(p))
		for i, v := range got {
			if v < p[i] || v > min(1, m*p[i]) {
				t.Fatalf("%v becomes %v", p, got)
			}
			for j := range got {
				if p[i] < p[j] && v > got[j] {
					t.Fatalf("%v becomes %v: another order", p, got)
				}
			}
		}
		if least := slices.Min(got); least != min(1, m*slices.Min(p)) {
			t.Fatalf("the smallest of %v becomes %v", p, least)
		}
	})
}

func TestExchangingTheModelsKeepsThePValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 70).Draw(t, "pairs")
		values := rapid.SliceOfN(rapid.Float64Range(-1, 1), n, n)
		a, b := values.Draw(t, "a"), values.Draw(t, "b")
		one, err1 := PairedT(a, b)
		other, err2 := PairedT(b, a)
		if err1 != nil || err2 != nil || one.Difference != -other.Difference || !near(one.PValue, other.PValue, 1e-9) {
			t.Errorf("%+v and %+v", one, other)
		}
		if !(one.PValue >= 0 && one.PValue <= 1) {
			t.Errorf("p = %v", one.PValue)
		}
	})
}

func TestSignificanceRejectsValuesThatAreNotFinite(t *testing.T) {
	nan := math.NaN()
	if _, err := PairedT([]float64{1, 2}, []float64{1}); err == nil || !strings.Contains(err.Error(), "cannot pair 2 values with 1") {
		t.Errorf("unequal lengths: %v", err)
	}
	if _, err := PairedT([]float64{1, nan}, []float64{1, 2}); err == nil || !strings.Contains(err.Error(), "query 1: NaN and 2 have no finite difference") {
		t.Errorf("NaN: %v", err)
	}
	if _, err := PairedT([]float64{1}, []float64{2}); err == nil || !strings.Contains(err.Error(), "two or more pairs, not 1") {
		t.Errorf("one pair: %v", err)
	}
	for want, c := range map[string]struct {
		b      Bootstrap
		values []float64
	}{
		"no values":                    {Bootstrap{}, nil},
		"query 1: cannot resample NaN": {Bootstrap{}, []float64{1, nan}},
		"-1 resamples":                 {Bootstrap{Resamples: -1}, []float64{1}},
		"a level of 1: want":           {Bootstrap{Level: 1}, []float64{1}},
		"a level of NaN: want":         {Bootstrap{Level: nan}, []float64{1}},
		"a level of -0.5: want":        {Bootstrap{Level: -.5}, []float64{1}},
	} {
		if got, err := c.b.MeanInterval(c.values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v of %v: %v, %v; want an error with %q", c.b, c.values, got, err, want)
		}
	}
}

// Intervals of skewed samples cover the true mean about as often as they say: of
// 400 intervals of 90 % all but 40 on average, with a standard deviation of 6. For
// samples of 40 from an exponential distribution BCa falls short by about 2 %.
func TestBootstrapIntervalsCoverTheMean(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	covered, longer := 0, 0
	for i := range 400 {
		values := make([]float64, 40)
		for k := range values {
			values[k] = rng.ExpFloat64()
		}
		got, err := Bootstrap{Resamples: 1000, Level: 0.9, Seed: uint64(i)}.MeanInterval(values)
		if err != nil {
			t.Fatal(err)
		}
		if got.Low <= 1 && 1 <= got.High {
			covered++
		}
		if got.High-got.Mean > got.Mean-got.Low {
			longer++
		}
	}
	if covered < 334 || covered > 378 {
		t.Errorf("%d of 400 intervals of 90 %% cover the mean", covered)
	}
	// The acceleration makes the side of the long tail the longer one.
	if longer < 380 {
		t.Errorf("%d of 400 intervals reach further up", longer)
	}
}

// BCa's constants: the normal quantile of the share of resamples below the mean, and
// a sixth of the skewness of the mean.
func TestBootstrapCorrectsBiasAndSkewness(t *testing.T) {
	for _, c := range []struct{ mean, bias float64 }{
		{2.5, 0},
		{4, 0.8416212335729143},  // the quantile of .8: three below, one tie as a half, of four
		{9, 1.2815515655446004},  // of .9: not infinite
		{0, -1.2815515655446004}, // of .1
	} {
		bias, acceleration := correction([]float64{1, 2, 3, 4}, c.mean, []float64{c.mean - 1, c.mean - 1, c.mean + 2})
		// deviations −1, −1, 2: cubes 6, squares 6
		if !near(bias, c.bias, 1e-12) || !near(acceleration, 6/(6*math.Pow(6, 1.5)), 1e-12) {
			t.Errorf("around %v: bias %v and acceleration %v, want %v and %v", c.mean, bias, acceleration, c.bias, 1/math.Pow(6, 1.5))
		}
	}
}

// Values that differ by rounding alone are equal, as they are in a unit in which they are whole.
func TestRoundingDoesNotCountAsADifference(t *testing.T) {
	tenth, fifth := 0.1, 0.2
	a, b := []float64{0.3, 0.3, 0.3, 0.6}, []float64{tenth + fifth, tenth + fifth, tenth + fifth, 0.6}
	for _, n := range []int{2, 3, 4} {
		if got, err := PairedT(a[:n], b[:n]); err != nil || got.PValue != 1 {
			t.Errorf("paired t of %d: %+v, %v", n, got, err)
		}
	}
	// One pair of three differs.
	got, err := Differences([]float64{0.3, 0.3, 1}, []float64{tenth + fifth, tenth + fifth, 0})
	if err != nil || !slices.Equal(got, []float64{0, 0, 1}) {
		t.Errorf("%v, %v", got, err)
	}
}

// Values in another unit have the same interval in that unit: half of the resampled means that equal the mean must not
// be lost to rounding.
func TestBootstrapIntervalsDoNotDependOnTheUnit(t *testing.T) {
	var grades []float64
	for i := range 50 {
		grades = append(grades, float64(i*7%11/5)) // 0, 1 and 2
	}
	wins := slices.Concat(slices.Repeat([]float64{1}, 25), slices.Repeat([]float64{0}, 25))
	differences := []float64{3, -1, 0, 2, 0, 0, -2, 1, 1, 5}
	for _, values := range [][]float64{grades, wins, differences} {
		want, err := Bootstrap{}.MeanInterval(values)
		if err != nil {
			t.Fatal(err)
		}
		for _, unit := range []struct{ scale, shift float64 }{
			{0.1, 0}, {1. / 3, 0}, {0.7, 0}, {1e-9, 0}, {1e9, 0}, {1.0 / 49, 0}, {1e-150, 0}, {0.1, 0.3}, {1.8, 32}, {0.01, 1000.1},
		} {
			scaled := make([]float64, len(values))
			for i, v := range values {
				scaled[i] = unit.scale*v + unit.shift
			}
			got, err := Bootstrap{}.MeanInterval(scaled)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range [][2]float64{{got.Low, want.Low}, {got.Mean, want.Mean}, {got.High, want.High}} {
				if x := unit.scale*v[1] + unit.shift; math.Abs(v[0]-x) > 1e-10*max(math.Abs(x), unit.scale) {
					t.Errorf("%v times %v: %v, want %v of %v", values[:3], unit, got, x, want)
				}
			}
		}
	}
}

func TestBootstrapDependsOnTheSeedAlone(t *testing.T) {
	values := make([]float64, 30)
	for i := range values {
		values[i] = math.Sin(float64(i))
	}
	first, err := Bootstrap{}.MeanInterval(values)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := (Bootstrap{Resamples: 10000, Level: 0.95}).MeanInterval(values); err != nil || again != first {
		t.Errorf("%v, %v, with the same seed %v", again, err, first)
	}
	if other, err := (Bootstrap{Seed: 1}).MeanInterval(values); err != nil || other == first {
		t.Errorf("%v, %v with another seed", other, err)
	}
	wider, err := Bootstrap{Level: 0.99}.MeanInterval(values)
	if err != nil || wider.Low >= first.Low || wider.High <= first.High {
		t.Errorf("99 %% is %v, %v; 95 %% is %v", wider, err, first)
	}
	if got, err := (Bootstrap{}).MeanInterval([]float64{0.25, 0.25, 0.25}); err != nil || got != (Interval{0.25, 0.25, 0.25}) {
		t.Errorf("equal values: %v, %v", got, err)
	}
	// The interval of many values is the interval of the normal distribution.
	rng := rand.New(rand.NewPCG(5, 1))
	many := make([]float64, 4000)
	for i := range many {
		many[i] = rng.NormFloat64()
	}
	got, err := Bootstrap{Resamples: 4000}.MeanInterval(many)
	half := 1.96 / math.Sqrt(4000)
	if err != nil || math.Abs((got.High-got.Low)/(2*half)-1) > 0.05 || math.Abs((got.High+got.Low)/2-got.Mean) > 0.1*half {
		t.Errorf("of 4000 normal values: %v, %v; want ±%v", got, err, half)
	}
}

func TestBootstrapIntervalsScaleWithTheValues(t *testing.T) {
	values := make([]float64, 20)
	for i := range values {
		values[i] = math.Sin(float64(i))
	}
	want, err := Bootstrap{Resamples: 500}.MeanInterval(values)
	if err != nil {
		t.Fatal(err)
	}
	for _, scale := range []float64{0x1p1023, 0x1p400, 0x1p-400, 0x1p-900} {
		scaled := slices.Clone(values)
		floats.Scale(scale, scaled)
		got, err := Bootstrap{Resamples: 500}.MeanInterval(scaled)
		if err != nil || !near(got.Mean/scale, want.Mean, 1e-12) || !near(got.Low/scale, want.Low, 1e-12) || !near(got.High/scale, want.High, 1e-12) {
			t.Errorf("of values times %v: %v, %v; without the factor %v", scale, got, err, want)
		}
	}
	most := []float64{math.MaxFloat64, math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64}
	if got, err := (Bootstrap{}).MeanInterval(most); err != nil || notFinite(got.Mean) || notFinite(got.Low) || notFinite(got.High) || got.Low > got.High {
		t.Errorf("of the largest numbers: %v, %v", got, err)
	}
}
