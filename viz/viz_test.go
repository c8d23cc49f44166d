package viz

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var curves = Plot{Title: "variance", X: "N", Y: "trace", LogX: true, LogY: true, Series: []Series{
	{Name: "PL-Rank-2", X: []float64{1, 10, 100}, Y: []float64{1, .1, .01}, Style: LinePoints},
	{Name: "PL-Rank-RB", X: []float64{1, 10, 100}, Y: []float64{.1, .01, .001}, Texts: []string{"", "", "end"}},
	{Name: "1/N", X: []float64{1, 100}, Y: []float64{2, .02}, Style: Guide},
}}

// texts are the texts of an SVG document, which must be well-formed.
func texts(t *testing.T, svg string) string {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	var b strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			t.Fatalf("SVG: %v", err)
		}
		if c, ok := token.(xml.CharData); ok {
			b.WriteString(strings.TrimSpace(string(c)) + "|")
		}
	}
}

func TestPlotIsDrawnInEveryFormat(t *testing.T) {
	got := texts(t, curves.SVG())
	for _, want := range []string{"variance", "PL-Rank-RB", "1/N", "|end|"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	for name, magic := range map[string]string{"a.svg": "<?xml", "a.PNG": "\x89PNG", "a.pdf": "%PDF"} {
		path := filepath.Join(t.TempDir(), name)
		if err := curves.Save(path); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(b), magic) {
			t.Errorf("%s begins with %.8q, %v", name, b, err)
		}
		if strings.HasPrefix(magic, "\x89") {
			img, err := png.Decode(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			if w, _ := curves.size(); math.Abs(float64(img.Bounds().Dx())-float64(w)*192/72) > 1 {
				t.Errorf("width %d, want %v points at 192 dpi", img.Bounds().Dx(), w)
			}
		}
	}
	if err := curves.Save("a.gif"); err == nil || !strings.Contains(err.Error(), ".svg, .png or .pdf") {
		t.Errorf("saved a GIF: %v", err)
	}
}

func TestNumbersThatCannotBeDrawnAreGaps(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		y    []float64
		log  bool
		want string
	}{
		{nil, false, "[]"},
		{[]float64{nan, nan}, false, "[]"},
		{[]float64{1, 2, 3}, false, "[[0 1 2]]"},
		{[]float64{1, nan, 3, 4}, false, "[[0] [2 3]]"},
		{[]float64{nan, 2, inf, -inf, 5}, false, "[[1] [4]]"},
		{[]float64{1, 0, -3, 4}, false, "[[0 1 2 3]]"},
		{[]float64{1, 0, -3, 4}, true, "[[0] [3]]"},
	} {
		var got [][]int
		for _, run := range (Series{Y: c.y}).segments(Plot{LogY: c.log}, anyPoint) {
			got = append(got, run.numbers)
			for i, n := range run.numbers {
				if y, _ := onAxis(c.y[n], c.log); run.at[i].X != float64(n+1) || run.at[i].Y != y {
					t.Errorf("%v: point %d is at %v", c.y, n, run.at[i])
				}
			}
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%v, log %v: segments %v, want %v", c.y, c.log, got, c.want)
		}
	}
}

func TestLogarithmicTicksAreWithinTheAxis(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		ticks     int
		want      string
	}{
		{0.03, 300, 28 + 9, "0.1 1 10 100"},
		{1, 10, 10, "1 2 5 10"},
		{2, 60, 9 + 5, "2 5 10 20 50"},
		{3, 4, 2, "3 4"},
		{1e4, 1e6, 19, "10000 100000 1e+06"},
	} {
		var labels []string
		ticks := decades(math.Log10(c.low), math.Log10(c.high))
		for _, tick := range ticks {
			if v := math.Pow(10, tick.Value); v < c.low*(1-1e-9) || v > c.high*(1+1e-9) {
				t.Errorf("%g to %g: a tick at %g", c.low, c.high, v)
			}
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
		}
		if got := strings.Join(labels, " "); got != c.want || len(ticks) != c.ticks {
			t.Errorf("%g to %g: %d ticks with labels %q, want %d with %q", c.low, c.high, len(ticks), got, c.ticks, c.want)
		}
	}
}

// A small plot is 9 cm wide, 255.12 points, and as much higher as its legend needs, which is above the curves.
func TestSmallPlotsAreNarrowWithTheLegendAbove(t *testing.T) {
	p := Plot{Small: true, X: "x", YNames: []string{strings.Repeat("name", 9)}, Series: []Series{{Name: strings.Repeat("curve", 9), Y: []float64{0, 1}}, {Name: "b", Y: []float64{1, 0}}}}
	svg := p.SVG()
	got := texts(t, svg)
	for _, want := range []string{"|namenamenamenam…|", "|curvecurvecurvecurvecurvecurvec…|", "|b|"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	size := func(svg string) (width, height float64) {
		sizes := regexp.MustCompile(`width="(.*)pt" height="(.*)pt"`).FindStringSubmatch(svg)
		width, errW := strconv.ParseFloat(sizes[1], 64)
		height, errH := strconv.ParseFloat(sizes[2], 64)
		if errW != nil || errH != nil || math.Abs(width-255.12) > 0.01 {
			t.Errorf("%q: width %v", sizes, width)
		}
		return width, height
	}
	_, height := size(svg)
	_, bare := size(Plot{Small: true}.SVG())
	if math.Abs(height-bare-28) > 0.01 {
		t.Errorf("the legend of two lines takes %v points", height-bare)
	}
}

func TestPlotsWithoutARangeAreDrawn(t *testing.T) {
	for _, log := range []bool{false, true} {
		for _, y := range [][]float64{nil, {math.NaN()}, {0}, {3}, {3, 3, 3}, {-1, -1}} {
			p := Plot{X: "x", LogX: log, LogY: log, Series: []Series{{Name: "y", Y: y, Style: LinePoints}}}
			if got := texts(t, p.SVG()); !strings.Contains(got, "|x|") {
				t.Errorf("log %v, %v: %s", log, y, got)
			}
		}
	}
	texts(t, Plot{}.SVG())
}

func TestFieldsThatDoNotFitArePanicsAndErrors(t *testing.T) {
	for _, c := range []struct {
		show func() string
		want string
	}{
		{Plot{Series: []Series{{Name: "a", X: []float64{1}, Y: []float64{1, 2}}}}.SVG, `viz: series 0 ("a") has 1 x and 2 y values`},
		{Plot{Series: []Series{{Name: "a", Y: []float64{1, 2}, Texts: []string{"t"}}}}.SVG, `viz: series 0 ("a") has 1 texts and 2 y values`},
		{Plot{Series: []Series{{Name: "a", Style: 9}}}.SVG, `viz: series 0 ("a") has an unknown style, 9`},
	} {
		func() {
			defer func() {
				if got := recover(); got != c.want {
					t.Errorf("panic %v, want %v", got, c.want)
				}
			}()
			c.show()
		}()
	}
	path := filepath.Join(t.TempDir(), "a.svg")
	err := Plot{Series: []Series{{X: []float64{1}}}}.Save(path)
	if want := "viz: " + path + `: series 0 ("") has 1 x and 0 y values`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was left: %v", err)
	}
}

func TestTableEscapesAndAligns(t *testing.T) {
	table := Table{Title: "a < b", Columns: []string{"model", "NDCG@5"}, Rows: []Row{
		{"<b>", 0.12345}, {"NaN", math.NaN()}, {"float32", float32(0.5)}, {"short"}, {"long", 1, "x"},
	}}
	html := table.HTML()
	for _, want := range []string{"<caption>a &lt; b</caption>", "&lt;b&gt;", `<td style="text-align:right">0.1235</td>`, ">–<", ">0.5000<", ">1<", ">x<"} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in %s", want, html)
		}
	}
	if n := strings.Count(html, "<td"); n != 15 {
		t.Errorf("%d values, want 5 rows of 3", n)
	}
	if html := (Table{Rows: []Row{{"a", 1}}}).HTML(); strings.Contains(html, "<th") || !strings.Contains(html, "<tbody>\n<tr><td") {
		t.Errorf("without headings: %s", html)
	}
	table.Digits = 2
	if got := table.String(); !strings.Contains(got, "  model  NDCG@5\n") || !strings.Contains(got, "    <b>    0.12\n") {
		t.Errorf("text:\n%s", got)
	}
}

// Two epochs have no middle.
func TestTicksOfWholeNumbersAreWhole(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want bool
	}{{nil, false}, {[]float64{1, 2}, false}, {[]float64{0, 1}, false}, {[]float64{.25, 1.75}, true}} {
		picture := Plot{Series: []Series{{X: c.x, Y: []float64{3, 40}}}}.SVG()
		if got := regexp.MustCompile(`>\d\.\d+<`).MatchString(picture); got != c.want {
			t.Errorf("x = %v: a tick between whole numbers: %t", c.x, got)
		}
	}
}

// A label that is longer than its axis is shortened, so that it is not cut off at the end of the picture, and the curves keep
// their space.
func TestLongLabelsAreShortened(t *testing.T) {
	heights := map[string]float64{}
	for _, label := range []string{"y", strings.Repeat("label ", 20)} {
		svg := Plot{Small: true, X: label, Y: label, Series: []Series{{Y: []float64{0, 1}}}}.SVG()
		if long := len(label) > 1; long == strings.Contains(svg, label) || long != strings.Contains(svg, "…") {
			t.Errorf("%q is in the wrong length in %s", label, svg)
		}
		for _, m := range regexp.MustCompile(`(?s)<text x="[^"]*" y="(-?[0-9.]+)"[^>]*>[01]\.[0-9]<`).FindAllStringSubmatch(svg, -1) {
			y, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			heights[label] = max(heights[label], math.Abs(y))
		}
	}
	if short, long := heights["y"], heights[strings.Repeat("label ", 20)]; short == 0 || math.Abs(short-long) > 5 {
		t.Errorf("the ticks reach to %v, and with a long label to %v", short, long)
	}
}
