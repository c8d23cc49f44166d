package tune

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func gridOf(t testing.TB, texts ...string) (g grid) {
	t.Helper()
	for _, text := range texts {
		if err := g.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

func TestGridIsRead(t *testing.T) {
	for text, want := range map[string]choice{
		"lr=.001,.003":       {flag: "lr", values: []string{".001", ".003"}},
		"-lr= 1e-3 , 1e-3,":  {flag: "lr", values: []string{"1e-3"}},
		"hidden=64;128,64":   {flag: "hidden", values: []string{"64", "128,64"}},
		"hidden=128,64;":     {flag: "hidden", values: []string{"128,64"}},
		"hidden=;16":         {flag: "hidden", values: []string{"", "16"}},
		"hidden=8;;16,4":     {flag: "hidden", values: []string{"8", "", "16,4"}},
		"loss=a+2*b(c),d":    {flag: "loss", values: []string{"a+2*b(c)", "d"}},
		"lr=1e-4..1e-1":      {flag: "lr", low: 1e-4, high: .1},
		"dropout=0...5":      {flag: "dropout", high: .5},
		"batch = 8 .. 64":    {flag: "batch", low: 8, high: 64, whole: true},
		"average=-1..1":      {flag: "average", low: -1, high: 1, whole: true},
		"normalize=true":     {flag: "normalize", values: []string{"true"}},
		"schedule=plateau=3": {flag: "schedule", values: []string{"plateau=3"}},
	} {
		got, err := parseChoice(text)
		if want.text = text; err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "lr", "lr=", "=1,2", "lr=,", "lr=1..", "lr=2..1", "lr=1..1", "lr=a..b", "lr=nan..1", "lr=0..inf", "lr=-1e308..1e308", "lr=1..2,3"} {
		if c, err := parseChoice(text); err == nil || !strings.Contains(err.Error(), "want a ") {
			t.Errorf("%s: %+v, %v", text, c, err)
		}
	}
	g := gridOf(t, "lr=1,2")
	if err := g.Set("lr=3"); err == nil || !strings.Contains(err.Error(), "-lr is there already") {
		t.Errorf("error %v", err)
	}
}

func TestWholeGridIsTriedInItsOrder(t *testing.T) {
	g := gridOf(t, "lr=1,2", "hidden=4;8,4")
	want := [][]string{{"-lr=1", "-hidden=4"}, {"-lr=1", "-hidden=8,4"}, {"-lr=2", "-hidden=4"}, {"-lr=2", "-hidden=8,4"}}
	if got := g.all(); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	for n, want := range map[int]bool{0: true, 3: false, 4: true, 5: true} {
		if got, err := g.whole(n); err != nil || got != want {
			t.Errorf("%d: %t, %v", n, got, err)
		}
	}
	if _, err := gridOf(t, "lr=1..2").whole(0); err == nil || !strings.Contains(err.Error(), "-trials must say how many") {
		t.Errorf("error %v", err)
	}
	var large grid
	for i := range 40 {
		large = append(large, gridOf(t, fmt.Sprintf("f%d=1,2", i))...)
	}
	if _, err := large.whole(0); err == nil || !strings.Contains(err.Error(), "more than 10000 combinations") {
		t.Errorf("error %v", err)
	}
}

// Draws are within the ranges, and the same for a seed.
func TestDraws(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		low := rapid.Float64Range(-10, 10).Draw(r, "low")
		high := low + rapid.Float64Range(1, 1000).Draw(r, "width")
		g := gridOf(t, "loss=a,b", fmt.Sprintf("lr=%v..%v", low, high), "seed=0..9")
		seed := rapid.Uint64().Draw(r, "seed")
		flags := g.draw(rand.New(rand.NewPCG(seed, 0)))
		if again := g.draw(rand.New(rand.NewPCG(seed, 0))); !slices.Equal(flags, again) {
			r.Fatalf("%q, and again %q", flags, again)
		}
		_, text, _ := strings.Cut(flags[1], "=")
		v, err := strconv.ParseFloat(text, 64)
		margin := 0.005 * max(math.Abs(low), math.Abs(high)) // three digits
		if err != nil || v < low-margin || v > high+margin || !slices.Contains([]string{"-loss=a", "-loss=b"}, flags[0]) {
			r.Fatalf("%q: %v is not in %v..%v", flags, v, low, high)
		}
	})
}

// Half of the draws of a range above 0 are below its geometric mean, and of another below its middle.
func TestRangesAboveZeroAreLogarithmic(t *testing.T) {
	for text, middle := range map[string]float64{"lr=1e-4..1e-1": math.Sqrt(1e-5), "dropout=0...5": .25, "hidden=1000..64000": 8000} {
		g, rng := gridOf(t, text), rand.New(rand.NewPCG(5, 0))
		below := 0
		for range 200 {
			flags := g.draw(rng)
			_, value, _ := strings.Cut(flags[0], "=")
			if v, err := strconv.ParseFloat(value, 64); err == nil && v < middle {
				below++
			}
		}
		if share := float64(below) / 200; math.Abs(share-.5) > .15 {
			t.Errorf("%s: %.2f are below %v", text, share, middle)
		}
	}
}
