package viz

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRoundTicksAreMultiplesOf1And2And5(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{1, 40, "5 10 15 20 25 30 35 40"},
		{0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{-0.05, 0.051, "-0.04 -0.02 0.00 0.02 0.04"},
		{0.61, 0.638, "0.610 0.615 0.620 0.625 0.630 0.635"},
		{1, 3, "1.0 1.5 2.0 2.5 3.0"},
		{0, 5e6, "0 1e+06 2e+06 3e+06 4e+06 5e+06"},
		{0, 2e-9, "0 5e-10 1e-09 1.5e-09 2e-09"},
		{0.5, math.Nextafter(0.5, 1), "0.5 0.5000000000000001"},
		{math.Nextafter(1, 0), 1, "0.9999999999999999 1"},
		{0, 5e-324, "0 5e-324"},
		{-math.MaxFloat64, math.MaxFloat64, "-1.7976931348623157e+308 1.7976931348623157e+308"},
	} {
		var labels []string
		for _, tick := range roundTicks(c.low, c.high, 8, 0) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("%g to %g: %s, want %s", c.low, c.high, got, c.want)
		}
	}
}

// There are three to eight of them, and their labels are their values.
func TestRoundTicksAreWithinTheAxis(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-1e4, 1e4).Draw(t, "low")
		high := low + math.Pow(10, rapid.Float64Range(-3, 5).Draw(t, "range"))
		ticks := roundTicks(low, high, 8, 0)
		if len(ticks) < 3 || len(ticks) > 8 {
			t.Fatalf("%d ticks", len(ticks))
		}
		for _, tick := range ticks {
			v, err := strconv.ParseFloat(tick.Label, 64)
			if slack := 1e-6 * (high - low); err != nil || math.Abs(v-tick.Value) > slack || v < low-slack || v > high+slack {
				t.Fatalf("label %q at %v, %v", tick.Label, tick.Value, err)
			}
		}
	})
}

// Whatever the ends of an axis are, the plot is drawn, with eight ticks at most, within
// them.
func FuzzPlotOfAnyRange(f *testing.F) {
	ends := []float64{0, 5e-324, 0x1p-1022, 0.5, 1, 1e6, 1e15, 1e16, 1e300, math.MaxFloat64}
	for _, low := range ends {
		for _, ulps := range []int{0, 1, 2, 3, 10} {
			high := low
			for range ulps {
				high = math.Nextafter(high, math.MaxFloat64)
			}
			f.Add(low, high)
			f.Add(-high, -low)
		}
		for _, high := range ends {
			f.Add(-low, high)
		}
	}
	f.Fuzz(func(t *testing.T, low, high float64) {
		for _, log := range []bool{false, true} {
			p := Plot{LogX: log, LogY: log, Series: []Series{
				{X: []float64{low, high}, Y: []float64{high, low}},
				{X: []float64{low, high}, Y: []float64{low, high}, Style: Points, Low: []float64{low, low}, High: []float64{high, high}},
			}}
			p.SVG()
		}
		if !(low < high) || math.IsInf(low, 0) || math.IsInf(high, 0) {
			return
		}
		ticks := roundTicks(low, high, 8, 0)
		if len(ticks) < 2 || len(ticks) > 8 {
			t.Errorf("%v to %v: %d ticks", low, high, len(ticks))
		}
		slack := 1e-15 * max(math.Abs(low), math.Abs(high))
		for _, tick := range ticks {
			if !(tick.Value >= low-slack && tick.Value <= high+slack) {
				t.Errorf("%v to %v: a tick at %v", low, high, tick.Value)
			}
		}
	})
}

// A text that has enough space is there.
func TestTextsNeitherOverlapNorAreCutOff(t *testing.T) {
	s := Series{Style: Points, X: []float64{0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1}, Y: []float64{0, 1, 1, 1, 1, 1, 1, 0}}
	for i := range s.X {
		s.Texts = append(s.Texts, fmt.Sprintf("text %d", i))
	}
	svg := Plot{Series: []Series{s}}.SVG()
	at := map[string]bool{}
	found := 0
	for _, m := range regexp.MustCompile(`<text x="([0-9.]+)" y="(-?[0-9.]+)"[^>]*>text (\d)`).FindAllStringSubmatch(svg, -1) {
		if at[m[1]+" "+m[2]] {
			t.Errorf("two texts at %s, %s", m[1], m[2])
		}
		at[m[1]+" "+m[2]] = true
		if x, _ := strconv.ParseFloat(m[1], 64); x > 17/2.54*72-25 {
			t.Errorf("text %s is cut off: it begins at %v", m[3], x)
		}
		found++
	}
	if found < 2+2 || found > 2+4 { // two to four of the middle ones, and both others
		t.Errorf("%d texts", found)
	}
}

func TestNamesAtTheAxisAreShortened(t *testing.T) {
	p := Plot{YNames: []string{"bm25", strings.Repeat("long", 20)}, Series: []Series{{Style: Points, X: []float64{1, 2}, Y: []float64{0, 1}}}}
	svg := p.SVG()
	if !strings.Contains(svg, ">bm25<") || !strings.Contains(svg, ">"+strings.Repeat("long", 20)[:29]+"…<") {
		t.Error(svg)
	}
}
