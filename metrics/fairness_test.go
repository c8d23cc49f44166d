package metrics

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plrank/plrank/internal/testkit"
)

func TestDisparityAgreesWithGoldenVectors(t *testing.T) {
	var file struct {
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
	testkit.Golden(t, "fairness.json", &file)
	for _, c := range file.Cases {
		l := Queries{Scores: c.Scores, Labels: c.Gains, Gain: LinearGain, Discounts: c.Theta}
		l.Exposure = make([]float64, len(c.Scores))
		for _, ranking := range c.Rankings[:c.Exposures] {
			for k, d := range ranking[:min(c.K, len(c.Scores))] {
				l.Exposure[d] += c.Theta[k] / float64(c.Exposures)
			}
		}
		if !same(l.Exposure, c.Exposure) {
			t.Errorf("%s: exposure %v, want %v", c.Name, l.Exposure, c.Exposure)
		}
		for f, want := range map[string]float64{"disparity": c.Squared, "abs-disparity": c.Absolute} {
			got, err := mustParse(t, f).PerQuery(l)
			if err != nil || !near(got[0], want, 1e-13) {
				t.Errorf("%s: %v %v, %v; want %v", c.Name, f, got, err, want)
			}
		}
	}
}

func TestExactExposureAgreesWithGoldenVectors(t *testing.T) {
	var file struct {
		Cases []struct {
			Name                            string
			Scores, Labels, Theta, Exposure []float64
			Disparity                       float64
		}
	}
	testkit.Golden(t, "exact.json", &file)
	for _, c := range file.Cases {
		// Not by PerQuery: some of these gains are negative.
		if got := meanSquareDisparity(exposed{exposure: c.Exposure, gains: c.Labels}); !near(got, c.Disparity, 1e-12) {
			t.Errorf("%s: disparity %v, want %v", c.Name, got, c.Disparity)
		}
		l := Queries{Scores: c.Scores, Labels: make([]float32, len(c.Scores)), Discounts: c.Theta}
		exposure, err := Exposure(l)
		if err != nil {
			t.Fatal(err)
		}
		for d, want := range c.Exposure {
			if bound := 1e-6 * max(slices.Max(c.Theta), -slices.Min(c.Theta)); math.Abs(exposure[d]-want) > bound {
				t.Errorf("%s: exposure of %d is %v, want %v", c.Name, d, exposure[d], want)
			}
		}
	}
}

// The enumerated exposure of a policy, compared with ours.
func TestExposureAgreesWithEnumeration(t *testing.T) {
	l := Queries{
		Scores:  []float64{9, 0.5, -0.2, 1.3, 0, 7},
		Labels:  make([]float32, 6),
		Offsets: []int{1, 5},
	}
	theta := Discounts(3)
	exact, err := testkit.EnumerateMoments(l.Scores[1:5], make([]float64, 4), theta)
	if err != nil {
		t.Fatal(err)
	}
	l.Discounts = theta
	estimate, err := Exposure(l)
	if err != nil {
		t.Fatal(err)
	}
	for d, want := range append(append([]float64{0}, exact.Exposure...), 0) {
		if math.Abs(estimate[d]-want) > 1e-6 {
			t.Errorf("row %d: %v, want %v", d, estimate[d], want)
		}
	}
	if estimate[0] != 0 || estimate[5] != 0 {
		t.Errorf("padding has exposure: %v", estimate)
	}
}

// Written out for two queries, the second of one document.
func TestFairnessMeasuresAreTheirFormulas(t *testing.T) {
	e := Queries{
		Exposure:  []float64{0.9, 0.5, 0.2, 1},
		Labels:    []float32{1, 2, 0, 0},
		Groups:    []int{4, 7, 7, 4},
		Offsets:   []int{0, 3, 4},
		Discounts: []float64{1, 0.6},
	}
	// gains 1, 3, 0; E* = 0.6, 1, 0; pairs E'ρ − Eρ': 0.5−2.7, 0.2, 0.6
	nan := math.NaN()
	formulas := map[string][]float64{
		"disparity":       {2 * (2.2*2.2 + 0.2*0.2 + 0.6*0.6) / 6, 0},
		"abs-disparity":   {2 * (2.2 + 0.2 + 0.6) / 6, 0},
		"ee-d":            {0.81 + 0.25 + 0.04, 1},
		"ee-r":            {0.54 + 0.5, 1},
		"ee-l":            {0.09 + 0.25 + 0.04, 0},
		"exposure-ratio":  {0.35 / 0.9, nan},
		"treatment-ratio": {(0.7 / 3) / 0.9, nan},
	}
	for _, name := range FairnessNames() {
		if _, has := formulas[name]; !has {
			t.Errorf("%s has no formula here", name)
		}
	}
	for f, want := range formulas {
		got, err := mustParse(t, f).PerQuery(e)
		if err != nil || !same(got, want) {
			t.Errorf("%v: %v, %v; want %v", f, got, err, want)
		}
		if m := mustParse(t, f); m.String() != f {
			t.Errorf("ParseMeasure(%q) is %v", f, m)
		}
	}
}

func TestFairnessIsDefinedWithoutMeritGroupsOrExposure(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		what string
		e    Queries
		want map[string]float64
	}{
		{"no documents", Queries{}, map[string]float64{"disparity": 0, "abs-disparity": 0, "ee-d": 0, "ee-r": 0, "ee-l": 0, "exposure-ratio": nan, "treatment-ratio": nan}},
		{"no merit", Queries{Exposure: []float64{1, 0.5}, Labels: []float32{0, 0}, Groups: []int{0, 1}},
			map[string]float64{"disparity": 0, "abs-disparity": 0, "ee-d": 1.25, "ee-r": 1.125, "ee-l": 0.125, "exposure-ratio": 0.5, "treatment-ratio": nan}},
		{"no group", Queries{Exposure: []float64{1, 0.5}, Labels: []float32{1, 1}, Groups: []int{0, -1}},
			map[string]float64{"exposure-ratio": nan, "treatment-ratio": nan}},
		{"no exposure", Queries{Exposure: []float64{0, 0}, Labels: []float32{1, 1}, Groups: []int{0, 1}},
			map[string]float64{"disparity": 0, "ee-d": 0, "ee-l": 1.125, "exposure-ratio": 1, "treatment-ratio": 1}},
		{"three groups", Queries{Exposure: []float64{1, 0.5, 0.25}, Labels: []float32{1, 1, 0}, Groups: []int{2, 0, 1}},
			map[string]float64{"exposure-ratio": 0.25, "treatment-ratio": 0.5}},
	} {
		c.e.Discounts = []float64{1, 0.5}
		for f, want := range c.want {
			got, err := mustParse(t, f).PerQuery(c.e)
			if err != nil || !same(got, []float64{want}) {
				t.Errorf("%s: %v is %v, %v; want %v", c.what, f, got, err, want)
			}
		}
	}
}

func TestFairnessMeasuresFollowTheirLawsForAnyExposure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 10).Draw(t, "documents")
		e := Queries{
			Exposure:  rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(t, "exposure"),
			Groups:    rapid.SliceOfN(rapid.IntRange(-1, 2), n, n).Draw(t, "groups"),
			Discounts: Discounts(rapid.IntRange(1, 12).Draw(t, "cutoff")),
		}
		for _, label := range rapid.SliceOfN(rapid.IntRange(0, 3), n, n).Draw(t, "labels") {
			e.Labels = append(e.Labels, float32(label))
		}
		value := func(f string, e Queries) float64 {
			v, err := mustParse(t, f).PerQuery(e)
			if err != nil {
				t.Fatal(err)
			}
			return v[0]
		}
		gains, err := Exp2Gain.Gains(e.Labels)
		if err != nil {
			t.Fatal(err)
		}
		target := exposed{gains: gains, discounts: e.Discounts}.target()

		// EE-L = EE-D − 2 EE-R + ‖E*‖², and 0 at the target.
		fair := e
		fair.Exposure = target
		if got, want := value("ee-l", e), value("ee-d", e)-2*value("ee-r", e)+value("ee-d", fair); !near(got, want, 1e-12) {
			t.Errorf("ee-l is %v, from its parts %v", got, want)
		}
		if got := value("ee-l", fair); got != 0 {
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
		if got := value("disparity", proportional); got != 0 {
			t.Errorf("disparity of proportional exposure is %v", got)
		}
		// The double sum of the definition.
		sum := 0.0
		for d, a := range e.Exposure {
			for other, b := range e.Exposure {
				sum += (b*gains[d] - a*gains[other]) * (b*gains[d] - a*gains[other])
			}
		}
		if got, want := value("disparity", e)*float64(n*(n-1)), sum; !near(got, want, 1e-12) {
			t.Errorf("disparity adds up to %v, want %v", got, want)
		}
		// Squares at least the square of the mean of absolute values.
		if squared, absolute := value("disparity", e), value("abs-disparity", e); n > 1 && squared < absolute*absolute-1e-12 {
			t.Errorf("disparity %v, absolute %v", squared, absolute)
		}
		for _, f := range []string{"exposure-ratio", "treatment-ratio"} {
			if v := value(f, e); v < 0 || v > 1 {
				t.Errorf("%v is %v", f, v)
			}
		}
		// The order of the documents does not matter.
		reversed := Queries{Discounts: e.Discounts}
		for d := n - 1; d >= 0; d-- {
			reversed.Exposure = append(reversed.Exposure, e.Exposure[d])
			reversed.Labels = append(reversed.Labels, e.Labels[d])
			reversed.Groups = append(reversed.Groups, e.Groups[d])
		}
		for _, f := range FairnessNames() {
			if a, b := value(f, e), value(f, reversed); !same([]float64{a}, []float64{b}) {
				t.Errorf("%s is %v, reversed %v", f, a, b)
			}
		}
	})
}

// Less is better if 0 is fair.
func TestFairExposureIsBetter(t *testing.T) {
	fair := Queries{Exposure: []float64{0.8, 0.8, 0}, Labels: []float32{1, 1, 0}, Groups: []int{0, 1, -1}, Discounts: []float64{1, 0.6}}
	unfair := fair
	unfair.Exposure = []float64{1, 0, 0.6}
	for _, name := range FairnessNames() {
		f := mustParse(t, name)
		better, err1 := f.PerQuery(fair)
		worse, err2 := f.PerQuery(unfair)
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

func TestFairnessErrorsNameQueryAndRow(t *testing.T) {
	for want, c := range map[string]struct {
		f string
		e Queries
	}{
		"query 1, row 1: exposure NaN": {"ee-d", Queries{Exposure: []float64{1, math.NaN()}, Labels: []float32{0, 0}, Offsets: []int{0, 1, 2}}},
		"query 1, row 1: label 99":     {"disparity", Queries{Exposure: []float64{1, 1}, Labels: []float32{0, 99}, Offsets: []int{0, 1, 2}}},
		"1 exposures but 0 labels":     {"disparity", Queries{Exposure: []float64{1}}},
		"offset 1 is 2":                {"disparity", Queries{Exposure: []float64{1}, Labels: []float32{0}, Offsets: []int{0, 2}}},
		"ee-l needs the discounts":     {"ee-l", Queries{Exposure: []float64{1}, Labels: []float32{0}}},
		"0 groups for 1 rows":          {"treatment-ratio", Queries{Exposure: []float64{1}, Labels: []float32{0}}},
	} {
		if got, err := mustParse(t, c.f).PerQuery(c.e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v; want an error with %q", got, err, want)
		}
	}
	if _, err := ParseMeasure("parity"); err == nil || !strings.Contains(err.Error(), "are disparity, abs-disparity, ") {
		t.Errorf("ParseMeasure: %v", err)
	}
	bad := Queries{Scores: []float64{1, math.Inf(1)}, Labels: make([]float32, 2), Discounts: Discounts(2)}
	if _, err := Exposure(bad); err == nil || !strings.Contains(err.Error(), "query 0, row 1: score +Inf") {
		t.Errorf("Exposure: %v", err)
	}
}
