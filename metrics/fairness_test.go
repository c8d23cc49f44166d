package metrics

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/plackett"
	"pgregory.net/rapid"
)

func TestGoldenFairness(t *testing.T) {
	var golden struct {
		Cases []struct {
			Name      string
			K         int
			Theta     []float64
			Gains     []float32 `json:"labels"`
			Scores    []float64
			Rankings  [][]int
			Exposures int       `json:"num_exposure_samples"`
			Exposure  []float64 `json:"exposure_plain"`
			Squared   float64   `json:"disparity_squared_plain"`
			Absolute  float64   `json:"disparity_abs_plain"`
		}
	}
	readGolden(t, "fairness.json", &golden)
	for _, c := range golden.Cases {
		l := Lists{Scores: c.Scores, Labels: c.Gains}
		r := Rankings{Samples: c.Exposures, Cutoff: min(c.K, len(c.Scores))}
		for _, ranking := range c.Rankings[:c.Exposures] {
			r.Rows = append(r.Rows, ranking[:r.Cutoff]...)
		}
		exposure, err := ExposureOver(l, c.Theta, r)
		if err != nil {
			t.Fatal(err)
		}
		if !same(exposure, c.Exposure) {
			t.Errorf("%s: exposure %v, want %v", c.Name, exposure, c.Exposure)
		}
		for f, want := range map[Fairness]float64{Disparity: c.Squared, AbsDisparity: c.Absolute} {
			got, err := f.PerQuery(Exposed{Exposure: exposure, Labels: c.Gains}, LinearGain)
			if err != nil || !near(got[0], want, 1e-13) {
				t.Errorf("%s: %v %v, %v; want %v", c.Name, f, got, err, want)
			}
		}
	}
}

func TestGoldenExactFairness(t *testing.T) {
	var golden struct {
		Cases []struct {
			Name                            string
			Scores, Labels, Theta, Exposure []float64
			Disparity                       float64
		}
	}
	readGolden(t, "exact.json", &golden)
	for _, c := range golden.Cases {
		// Not by PerQuery: some of these gains are negative.
		if got := Disparity.value(c.Exposure, c.Labels, nil, nil); !near(got, c.Disparity, 1e-12) {
			t.Errorf("%s: disparity %v, want %v", c.Name, got, c.Disparity)
		}
		l := Lists{Scores: c.Scores, Labels: make([]float32, len(c.Scores))}
		exposure, err := Exposure(l, c.Theta, Policy{Samples: 20000, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		for d, want := range c.Exposure {
			// A chance of θ cannot spread further than θ and 0.
			spread := max(0, slices.Max(c.Theta)) - min(0, slices.Min(c.Theta))
			if bound := 5 * spread / 2 / math.Sqrt(20000); math.Abs(exposure[d]-want) > bound {
				t.Errorf("%s: exposure of %d is %v, want %v ± %v", c.Name, d, exposure[d], want, bound)
			}
		}
	}
}

// The exposure of a policy, enumerated, against both estimates of it.
func TestExposureAgainstEnumeration(t *testing.T) {
	l := Lists{
		Scores:  []float64{9, 0.5, -0.2, 1.3, 0, 7},
		Labels:  make([]float32, 6),
		Offsets: []int{1, 5},
	}
	theta := Discounts(3)
	exact, err := plackett.EnumerateMoments(l.Scores[1:5], make([]float64, 4), theta)
	if err != nil {
		t.Fatal(err)
	}
	policy := Policy{Samples: 20000, Seed: 2}
	estimate, err := Exposure(l, theta, policy)
	if err != nil {
		t.Fatal(err)
	}
	draws, err := policy.draws()
	if err != nil {
		t.Fatal(err)
	}
	places, err := draws.of(query{scores: l.Scores[1:5]}, 3)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]int, len(places))
	for i, d := range places {
		rows[i] = d + 1
	}
	plain, err := ExposureOver(l, theta, Rankings{Rows: rows, Samples: 20000, Cutoff: 3})
	if err != nil {
		t.Fatal(err)
	}
	for d, want := range append(append([]float64{0}, exact.Exposure...), 0) {
		if math.Abs(estimate[d]-want) > 0.005 || math.Abs(plain[d]-want) > 0.02 {
			t.Errorf("row %d: %v and %v, want %v", d, estimate[d], plain[d], want)
		}
	}
	if estimate[0] != 0 || estimate[5] != 0 {
		t.Errorf("padding has exposure: %v", estimate)
	}
}

func TestRankExposure(t *testing.T) {
	l := Lists{Scores: []float64{1, 3, 2, 5, 5}, Labels: make([]float32, 5), Offsets: []int{0, 3, 3, 5}}
	got, err := RankExposure(l, []float64{1, 0.5})
	if want := []float64{0, 1, 0.5, 1, 0.5}; err != nil || !same(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

func TestTargetExposure(t *testing.T) {
	for _, c := range []struct{ gains, discounts, want []float64 }{
		{[]float64{0, 3, 1, 3, 0}, []float64{1, 0.6, 0.5, 0.4}, []float64{0.2, 0.8, 0.5, 0.8, 0.2}},
		{[]float64{0, 0}, []float64{1, 0.6}, []float64{0.8, 0.8}},
		{[]float64{7}, []float64{1, 0.6}, []float64{1}},
		{[]float64{1, 2}, nil, []float64{0, 0}},
		{nil, []float64{1}, nil},
	} {
		if got := TargetExposure(c.gains, c.discounts); !same(got, c.want) {
			t.Errorf("of %v with %v: %v, want %v", c.gains, c.discounts, got, c.want)
		}
	}
}

// Written out for two queries, the second of one document.
func TestFairnessFormulas(t *testing.T) {
	e := Exposed{
		Exposure:  []float64{0.9, 0.5, 0.2, 1},
		Labels:    []float32{1, 2, 0, 0},
		Groups:    []int{4, 7, 7, 4},
		Offsets:   []int{0, 3, 4},
		Discounts: []float64{1, 0.6},
	}
	// gains 1, 3, 0; E* = 0.6, 1, 0; pairs E'ρ − Eρ': 0.5−2.7, 0.2, 0.6
	nan := math.NaN()
	for f, want := range map[Fairness][]float64{
		Disparity:      {2 * (2.2*2.2 + 0.2*0.2 + 0.6*0.6) / 6, 0},
		AbsDisparity:   {2 * (2.2 + 0.2 + 0.6) / 6, 0},
		EED:            {0.81 + 0.25 + 0.04, 1},
		EER:            {0.54 + 0.5, 1},
		EEL:            {0.09 + 0.25 + 0.04, 0},
		ExposureRatio:  {0.35 / 0.9, nan},
		TreatmentRatio: {(0.7 / 3) / 0.9, nan},
	} {
		got, err := f.PerQuery(e, Exp2Gain)
		if err != nil || !same(got, want) {
			t.Errorf("%v: %v, %v; want %v", f, got, err, want)
		}
		if again, err := ParseFairness(f.String()); err != nil || again != f {
			t.Errorf("ParseFairness(%q) is %v, %v", f, again, err)
		}
	}
}

func TestFairnessOfSpecialQueries(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		what string
		e    Exposed
		want map[Fairness]float64
	}{
		{"no documents", Exposed{}, map[Fairness]float64{Disparity: 0, AbsDisparity: 0, EED: 0, EER: 0, EEL: 0, ExposureRatio: nan, TreatmentRatio: nan}},
		{"no merit", Exposed{Exposure: []float64{1, 0.5}, Labels: []float32{0, 0}, Groups: []int{0, 1}},
			map[Fairness]float64{Disparity: 0, AbsDisparity: 0, EED: 1.25, EER: 1.125, EEL: 0.125, ExposureRatio: 0.5, TreatmentRatio: nan}},
		{"no group", Exposed{Exposure: []float64{1, 0.5}, Labels: []float32{1, 1}, Groups: []int{0, -1}},
			map[Fairness]float64{ExposureRatio: nan, TreatmentRatio: nan}},
		{"no exposure", Exposed{Exposure: []float64{0, 0}, Labels: []float32{1, 1}, Groups: []int{0, 1}},
			map[Fairness]float64{Disparity: 0, EED: 0, EEL: 1.125, ExposureRatio: 1, TreatmentRatio: 1}},
		{"three groups", Exposed{Exposure: []float64{1, 0.5, 0.25}, Labels: []float32{1, 1, 0}, Groups: []int{2, 0, 1}},
			map[Fairness]float64{ExposureRatio: 0.25, TreatmentRatio: 0.5}},
	} {
		c.e.Discounts = []float64{1, 0.5}
		for f, want := range c.want {
			got, err := f.PerQuery(c.e, Exp2Gain)
			if err != nil || !same(got, []float64{want}) {
				t.Errorf("%s: %v is %v, %v; want %v", c.what, f, got, err, want)
			}
		}
	}
}

// The laws of the measures for any exposure.
func TestFairnessLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 10).Draw(t, "documents")
		e := Exposed{
			Exposure:  rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(t, "exposure"),
			Groups:    rapid.SliceOfN(rapid.IntRange(-1, 2), n, n).Draw(t, "groups"),
			Discounts: Discounts(rapid.IntRange(1, 12).Draw(t, "cutoff")),
		}
		for _, label := range rapid.SliceOfN(rapid.IntRange(0, 3), n, n).Draw(t, "labels") {
			e.Labels = append(e.Labels, float32(label))
		}
		value := func(f Fairness, e Exposed) float64 {
			v, err := f.PerQuery(e, Exp2Gain)
			if err != nil {
				t.Fatal(err)
			}
			return v[0]
		}
		gains, err := Exp2Gain.Gains(e.Labels)
		if err != nil {
			t.Fatal(err)
		}
		target := TargetExposure(gains, e.Discounts)

		// EE-L = EE-D − 2 EE-R + ‖E*‖², and 0 at the target.
		fair := e
		fair.Exposure = target
		if got, want := value(EEL, e), value(EED, e)-2*value(EER, e)+value(EED, fair); !near(got, want, 1e-12) {
			t.Errorf("ee-l is %v, from its parts %v", got, want)
		}
		if got := value(EEL, fair); got != 0 {
			t.Errorf("ee-l of the target is %v", got)
		}
		// The target gives out all exposure, in the order of the gains.
		if got, want := sumOf(target), sumOf(e.Discounts[:min(n, len(e.Discounts))]); !near(got, want, 1e-12) {
			t.Errorf("the target gives out %v of %v", got, want)
		}
		// Exposure in proportion to gain has no disparity.
		proportional := e
		proportional.Exposure = make([]float64, n)
		for d, gain := range gains {
			proportional.Exposure[d] = 0.25 * gain
		}
		if got := value(Disparity, proportional); got != 0 {
			t.Errorf("disparity of proportional exposure is %v", got)
		}
		// The double sum of the definition.
		sum := 0.0
		for d, a := range e.Exposure {
			for other, b := range e.Exposure {
				sum += (b*gains[d] - a*gains[other]) * (b*gains[d] - a*gains[other])
			}
		}
		if got, want := value(Disparity, e)*float64(n*(n-1)), sum; !near(got, want, 1e-12) {
			t.Errorf("disparity adds up to %v, want %v", got, want)
		}
		// Squares at least the square of the mean of absolute values.
		if squared, absolute := value(Disparity, e), value(AbsDisparity, e); n > 1 && squared < absolute*absolute-1e-12 {
			t.Errorf("disparity %v, absolute %v", squared, absolute)
		}
		for _, f := range []Fairness{ExposureRatio, TreatmentRatio} {
			if v := value(f, e); v < 0 || v > 1 {
				t.Errorf("%v is %v", f, v)
			}
		}
		// The order of the documents is of no account.
		turned := Exposed{Discounts: e.Discounts}
		for d := n - 1; d >= 0; d-- {
			turned.Exposure = append(turned.Exposure, e.Exposure[d])
			turned.Labels = append(turned.Labels, e.Labels[d])
			turned.Groups = append(turned.Groups, e.Groups[d])
		}
		for f := range fairnessNames {
			if a, b := value(Fairness(f), e), value(Fairness(f), turned); !same([]float64{a}, []float64{b}) {
				t.Errorf("%v is %v, turned round %v", Fairness(f), a, b)
			}
		}
	})
}

// Less is better where 0 is fair: the fairest exposure is no worse than any other.
func TestFairnessDirection(t *testing.T) {
	fair := Exposed{Exposure: []float64{0.8, 0.8, 0}, Labels: []float32{1, 1, 0}, Groups: []int{0, 1, -1}, Discounts: []float64{1, 0.6}}
	unfair := fair
	unfair.Exposure = []float64{1, 0, 0.6}
	for _, name := range FairnessNames() {
		f, err := ParseFairness(name)
		if err != nil {
			t.Fatal(err)
		}
		better, err1 := f.PerQuery(fair, Exp2Gain)
		worse, err2 := f.PerQuery(unfair, Exp2Gain)
		if err1 != nil || err2 != nil || (better[0] < worse[0]) != f.LowerIsBetter() {
			t.Errorf("%s: fair %v, unfair %v, lower is better: %t (%v, %v)", name, better, worse, f.LowerIsBetter(), err1, err2)
		}
	}
}

func sumOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum
}

func TestFairnessErrors(t *testing.T) {
	for want, c := range map[string]struct {
		f Fairness
		e Exposed
	}{
		"query 1, row 1: exposure NaN":  {EED, Exposed{Exposure: []float64{1, math.NaN()}, Labels: []float32{0, 0}, Offsets: []int{0, 1, 2}}},
		"query 1, row 1: label 99":      {Disparity, Exposed{Exposure: []float64{1, 1}, Labels: []float32{0, 99}, Offsets: []int{0, 1, 2}}},
		"1 exposures but 0 labels":      {Disparity, Exposed{Exposure: []float64{1}}},
		"offset 1 is 2":                 {Disparity, Exposed{Exposure: []float64{1}, Labels: []float32{0}, Offsets: []int{0, 2}}},
		"ee-l needs the discounts":      {EEL, Exposed{Exposure: []float64{1}, Labels: []float32{0}}},
		"0 groups for 1 rows":           {TreatmentRatio, Exposed{Exposure: []float64{1}, Labels: []float32{0}}},
		"no such measure: Fairness(99)": {Fairness(99), Exposed{}},
	} {
		if got, err := c.f.PerQuery(c.e, Exp2Gain); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v; want an error with %q", got, err, want)
		}
	}
	if _, err := ParseFairness("parity"); err == nil || !strings.Contains(err.Error(), "one of: disparity, abs-disparity, ee-l") {
		t.Errorf("ParseFairness: %v", err)
	}
	bad := Lists{Scores: []float64{1, math.Inf(1)}, Labels: make([]float32, 2)}
	if _, err := Exposure(bad, Discounts(2), Policy{}); err == nil || !strings.Contains(err.Error(), "query 0, row 1: score +Inf") {
		t.Errorf("Exposure: %v", err)
	}
	if _, err := RankExposure(bad, Discounts(2)); err == nil || !strings.Contains(err.Error(), "query 0, row 1: score +Inf") {
		t.Errorf("RankExposure: %v", err)
	}
	good := Lists{Scores: []float64{1, 2}, Labels: make([]float32, 2)}
	if _, err := Exposure(good, Discounts(2), Policy{Samples: -3}); err == nil || !strings.Contains(err.Error(), "-3 samples") {
		t.Errorf("Exposure: %v", err)
	}
	if _, err := ExposureOver(good, Discounts(2), Rankings{Rows: []int{0}, Samples: 1, Cutoff: 1}); err == nil || !strings.Contains(err.Error(), "2 ranks of its 2 documents count") {
		t.Errorf("ExposureOver: %v", err)
	}
}
