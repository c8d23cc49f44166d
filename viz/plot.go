package viz

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Plot is a diagram of curves or points.
type Plot struct {
	Title      string
	X, Y       string   // labels of the axes
	LogX, LogY bool     // logarithmic axes, on which what is not positive has no place
	YNames     []string // of y = 0, 1, 2, …, which stand at the axis instead of numbers; nil: none
	Series     []Series
}

// A Series is one curve of a Plot. NaN and infinite values are gaps.
type Series struct {
	Name  string    // in the legend; "": not there
	X, Y  []float64 // of the same length; X nil: 1, 2, 3, …
	Style Style
	Marks []int    // numbers of points that get a dot, from 0
	Texts []string // beside the points; nil: none

	// Low and High say how sure each Y is, nil if nothing is known: a band from one
	// to the other beside a line, an error bar at a point without one. Left and
	// Right are the ends of an error bar of each X, at points without a line.
	// Where they are not finite, there is neither.
	Low, High   []float64
	Left, Right []float64

	Color int // number of a colour from 1 to 7, to have the same in several plots; 0: the next one
}

// Style says how a Series is drawn.
type Style int

// The styles.
const (
	Line       Style = iota
	Points           // unconnected
	LinePoints       // connected
	Guide            // a thin dashed grey line: a reference, not a result
)

// SVG is the plot as an SVG document. It panics where a series has X and Y of
// different lengths, or other things that do not fit them.
func (p Plot) SVG() string { return svg(p) }

// Save writes the plot to a file, in the format that its name ends in: .svg, .png
// or .pdf.
func (p Plot) Save(path string) error { return save(p, path) }

// String says what there is to see.
func (p Plot) String() string {
	return fmt.Sprintf("plot of %s against %s, %d series", p.Y, p.X, len(p.Series))
}

func (p Plot) size() (width, height vg.Length) {
	return 17 * vg.Centimeter, max(9*vg.Centimeter, vg.Length(len(p.YNames)+5)*vg.Points(14))
}

func (p Plot) check() error {
	for i, s := range p.Series {
		switch {
		case s.X != nil && len(s.X) != len(s.Y):
			return fmt.Errorf("series %d (%q) has %d x and %d y values", i, s.Name, len(s.X), len(s.Y))
		case s.Texts != nil && len(s.Texts) != len(s.Y):
			return fmt.Errorf("series %d (%q) has %d texts and %d y values", i, s.Name, len(s.Texts), len(s.Y))
		case !fits(s.Low, s.High, s.Y):
			return fmt.Errorf("series %d (%q) has %d y values, but %d low and %d high ones", i, s.Name, len(s.Y), len(s.Low), len(s.High))
		case !fits(s.Left, s.Right, s.Y):
			return fmt.Errorf("series %d (%q) has %d points, but %d left and %d right ends", i, s.Name, len(s.Y), len(s.Left), len(s.Right))
		case s.Left != nil && s.Style != Points:
			return fmt.Errorf("series %d (%q) has left and right ends, which are for points without a line", i, s.Name)
		case s.Color < 0 || s.Color > len(palette):
			return fmt.Errorf("series %d (%q) has colour %d of %d", i, s.Name, s.Color, len(palette))
		case s.Style < Line || s.Style > Guide:
			return fmt.Errorf("series %d (%q) has an unknown style, %d", i, s.Name, s.Style)
		}
		for _, m := range s.Marks {
			if m < 0 || m >= len(s.Y) {
				return fmt.Errorf("series %d (%q) has %d points, of which %d is to get a dot", i, s.Name, len(s.Y), m)
			}
		}
	}
	return nil
}

// fits tells whether the ends of error bars are those of values, or none.
func fits(low, high, values []float64) bool {
	return len(low) == len(high) && (low == nil || len(low) == len(values))
}

func (p Plot) draw(c draw.Canvas) error {
	d := plot.New()
	d.Title.Text, d.X.Label.Text, d.Y.Label.Text = p.Title, p.X, p.Y
	d.Title.Padding = vg.Points(6)
	// The legend stands on its own, where no curve is.
	legend := plot.NewLegend()
	legend.Top, legend.Left, legend.Padding = true, true, vg.Points(4)
	for _, f := range []*draw.TextStyle{&d.Title.TextStyle, &d.X.Label.TextStyle, &d.Y.Label.TextStyle, &d.X.Tick.Label, &d.Y.Tick.Label, &legend.TextStyle} {
		f.Font.Variant = "Sans"
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = lightGrey, lightGrey
	d.Add(grid)

	color := 0
	for _, s := range p.Series {
		style := draw.LineStyle{Color: grey, Width: vg.Points(1), Dashes: []vg.Length{vg.Points(4), vg.Points(3)}}
		glyph := draw.GlyphStyle{Color: grey, Radius: vg.Points(3), Shape: draw.CircleGlyph{}}
		if s.Style != Guide {
			number := s.Color - 1
			if number < 0 {
				number = color % len(palette)
				color++
			}
			style = draw.LineStyle{Color: palette[number], Width: vg.Points(1.6)}
			glyph.Color, glyph.Shape = style.Color, glyphs[number]
		}
		if err := p.addSpread(d, s, style); err != nil {
			return err
		}
		if err := p.addSeries(d, &legend, s, style, glyph); err != nil {
			return err
		}
	}
	p.setAxis(&d.X, p.LogX)
	p.setAxis(&d.Y, p.LogY)
	if p.YNames != nil {
		d.Y.Tick.Marker = names(p.YNames)
	}
	c = draw.Crop(c, vg.Points(4), -vg.Points(12), vg.Points(4), -vg.Points(6)) // the last ticks have room
	// A reader's font may be wider than the one that is measured here.
	if width := legend.Rectangle(c).Size().X * 1.15; width > 0 {
		legend.Draw(draw.Crop(c, c.Size().X-width, 0, 0, -vg.Points(22))) // not beside the title
		c = draw.Crop(c, 0, -width-vg.Points(10), 0, 0)
	}
	d.Draw(c)
	return nil
}

// A part is a run of points of a series without a gap, with their numbers.
type part struct {
	at      plotter.XYs
	numbers []int
}

// parts splits a series at its gaps.
func (p Plot) parts(s Series) []part {
	var list []part
	gap := true
	for i, y := range s.Y {
		x := float64(i + 1)
		if s.X != nil {
			x = s.X[i]
		}
		if !drawable(x, p.LogX) || !drawable(y, p.LogY) {
			gap = true
			continue
		}
		if gap {
			list = append(list, part{})
			gap = false
		}
		last := &list[len(list)-1]
		last.at = append(last.at, plotter.XY{X: onAxis(x, p.LogX), Y: onAxis(y, p.LogY)})
		last.numbers = append(last.numbers, i)
	}
	return list
}

// addSeries adds a line for every part, then the points and texts.
func (p Plot) addSeries(d *plot.Plot, legend *plot.Legend, s Series, style draw.LineStyle, glyph draw.GlyphStyle) error {
	var dots plotter.XYs
	var labels pointTexts
	for _, part := range p.parts(s) {
		if s.Style != Points {
			d.Add(&plotter.Line{XYs: part.at, LineStyle: style})
		}
		for i, at := range part.at {
			alone := len(part.at) == 1 // no line shows it
			if alone || s.Style == Points || s.Style == LinePoints || slices.Contains(s.Marks, part.numbers[i]) {
				dots = append(dots, at)
			}
			if s.Texts != nil {
				labels.at = append(labels.at, at)
				labels.texts = append(labels.texts, s.Texts[part.numbers[i]])
			}
		}
	}
	line, points := &plotter.Line{LineStyle: style}, &plotter.Scatter{XYs: dots, GlyphStyle: glyph}
	if len(dots) > 0 {
		d.Add(points)
	}
	if s.Texts != nil {
		labels.style = d.X.Tick.Label
		labels.style.XAlign, labels.style.YAlign = draw.XLeft, draw.YBottom
		labels.style.Font.Size = vg.Points(9)
		d.Add(labels)
	}
	if s.Name == "" {
		return nil
	}
	switch s.Style {
	case Points:
		legend.Add(s.Name, points)
	case LinePoints:
		legend.Add(s.Name, line, points)
	default:
		legend.Add(s.Name, line)
	}
	return nil
}

// setAxis sets the range and the ticks of an axis that data has been added to.
func (p Plot) setAxis(a *plot.Axis, log bool) {
	a.Padding = vg.Points(4)
	if a.Min > a.Max { // there is no data
		a.Min, a.Max = 0, 1
	}
	a.Tick.Marker = roundTicks{}
	if log {
		a.Tick.Marker = decades{}
	}
}

// decades are the ticks of an axis of decimal logarithms: log10(1), log10(2), …,
// log10(10), …, with their numbers beside the powers of ten, on short axes beside 2
// and 5 as well, or beside all. (The logarithmic scale of package plot makes
// room for labels where there are none.)
type decades struct{}

func (decades) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	const slack = 1e-9 // of the sums below
	for e := math.Floor(low); e <= high; e++ {
		for digit := range 9 {
			digit := float64(digit + 1)
			t := plot.Tick{Value: e + math.Log10(digit)}
			if t.Value < low-slack || t.Value > high+slack {
				continue
			}
			t.Value = max(low, min(t.Value, high))
			if digit == 1 || high-low < 1.5 && (digit == 2 || digit == 5) || high-low < 0.5 {
				t.Label = strconv.FormatFloat(digit*math.Pow(10, e), 'g', 6, 64)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// onAxis is where a number stands on an axis.
func onAxis(v float64, log bool) float64 {
	if log {
		return math.Log10(v)
	}
	return v
}

// drawable tells whether a number has a place on an axis, the length of which is to be
// finite.
func drawable(v float64, log bool) bool {
	return math.Abs(v) <= math.MaxFloat64/4 && (!log || v > 0)
}
