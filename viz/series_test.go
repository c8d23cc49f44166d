package viz

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"
)

// spreadRange is the range of both axes that a spread takes: min > max if there is none.
func spreadRange(t *testing.T, p Plot, s Series) (x, y [2]float64) {
	t.Helper()
	d := plot.New()
	p.Series = []Series{s}
	if err := p.check(); err != nil {
		t.Fatal(err)
	}
	if err := addSpread(d, p, s, draw.LineStyle{Color: palette[0], Width: 1}); err != nil {
		t.Fatal(err)
	}
	return [2]float64{d.X.Min, d.X.Max}, [2]float64{d.Y.Min, d.Y.Max}
}

func TestSpreadReachesItsFiniteEnds(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	none := [2]float64{inf, -inf}
	for _, c := range []struct {
		name string
		Plot
		Series
		x, y [2]float64
	}{
		{"none", Plot{}, Series{Y: []float64{1, 2}}, none, none},
		{"band", Plot{}, Series{Y: []float64{1, 2, 3}, Low: []float64{0, 1, 2}, High: []float64{2, 3, 7}}, [2]float64{1, 3}, [2]float64{0, 7}},
		{"band with a gap", Plot{}, Series{Y: []float64{1, 2, nan, 3, 4}, Low: []float64{0, 1, -9, 2, 3}, High: []float64{2, 3, 9, 5, 5}}, [2]float64{1, 5}, [2]float64{0, 5}},
		{"band of unknown ends", Plot{}, Series{Y: []float64{1, 2, 3}, Low: []float64{nan, 1, nan}, High: []float64{nan, 3, 9}}, none, none},
		{"logarithmic band", Plot{LogY: true}, Series{Y: []float64{1, 1, 1}, Low: []float64{.1, .1, -1}, High: []float64{10, 100, 10}}, [2]float64{1, 2}, [2]float64{-1, 2}},
		{"bars", Plot{}, Series{Style: Points, X: []float64{1, 5}, Y: []float64{1, 2}, Low: []float64{0, 2}, High: []float64{2, 4}, Left: []float64{.5, 4}, Right: []float64{1, 6}}, [2]float64{.5, 6}, [2]float64{0, 4}},
		{"bars of Y alone", Plot{}, Series{Style: Points, X: []float64{1, 5}, Y: []float64{1, 2}, Low: []float64{0, nan}, High: []float64{2, nan}}, [2]float64{1, 5}, [2]float64{0, 2}},
		{"logarithmic bars", Plot{LogX: true}, Series{Style: Points, X: []float64{10}, Y: []float64{1}, Left: []float64{1}, Right: []float64{1000}}, [2]float64{0, 3}, [2]float64{1, 1}},
	} {
		x, y := spreadRange(t, c.Plot, c.Series)
		for i, pair := range [][2][2]float64{{x, c.x}, {y, c.y}} {
			for end := range pair[0] {
				if got, want := pair[0][end], pair[1][end]; got != want && !(math.Abs(got-want) < 1e-12) {
					t.Errorf("%s: axis %d from %v, want %v", c.name, i, pair[0], pair[1])
				}
			}
		}
		c.Plot.Series = []Series{c.Series}
		texts(t, c.Plot.SVG()) // is well-formed
	}
}

func TestNumberedColourDoesNotDependOnOtherSeries(t *testing.T) {
	a := Plot{Series: []Series{{Y: []float64{1, 2}, Color: 3}}}.SVG()
	b := Plot{Series: []Series{{Y: []float64{1, 2}}, {Y: []float64{1, 2}, Color: 3}}}.SVG()
	const green = "#009E73"
	for _, svg := range []string{a, b} {
		if !strings.Contains(svg, green) {
			t.Errorf("no %s in\n%s", green, svg)
		}
	}
	if strings.Contains(a, "#0072B2") {
		t.Error("the first colour is there, too")
	}
}

func TestSpreadThatDoesNotFitIsAnError(t *testing.T) {
	two := []float64{1, 2}
	for want, s := range map[string]Series{
		"has 2 y values, but 1 low and 2 high ones": {Y: two, Low: two[:1], High: two},
		"has 2 y values, but 2 low and 0 high ones": {Y: two, Low: two},
		"has 2 points, but 1 left and 1 right ends": {Y: two, Left: two[:1], Right: two[:1], Style: Points},
		"which are for points without a line":       {Y: two, Left: two, Right: two},
		"has colour 8 of 7":                         {Y: two, Color: 8},
		"has colour -1 of 7":                        {Y: two, Color: -1},
	} {
		if err := (Plot{Series: []Series{s}}).check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestMarkdownIsATableOfGitHub(t *testing.T) {
	table := Table{Title: "gains", Columns: []string{"model", "N", "DCG"}, Rows: []Row{{"a|b", 10, math.NaN()}, {"c", 1, .5}, {"short"}}, Digits: 2}
	want := "gains\n\n| model | N | DCG |\n| --- | ---: | ---: |\n| a\\|b | 10 | – |\n| c | 1 | 0.50 |\n| short |  |  |\n"
	if got := table.Markdown(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
