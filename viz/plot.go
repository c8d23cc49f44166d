package viz

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Plot is a diagram of curves or points.
type Plot struct {
	Title      string
	X, Y       string // labels of the axes
	LogX, LogY bool   // logarithmic axes, on which what is not positive has no place
	Series     []Series
	Legend     Corner
}

// A Series is one curve of a Plot. NaN and infinite values are gaps.
type Series struct {
	Name  string    // in the legend; "": not there
	X, Y  []float64 // of the same length; X nil: 1, 2, 3, …
	Style Style
	Marks []int    // numbers of points to be marked with a dot, from 0
	Texts []string // beside the points; nil: none
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

// Corner is where the legend stands.
type Corner int

// The corners.
const (
	TopRight Corner = iota
	TopLeft
	BottomRight
	BottomLeft
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

func (p Plot) size() (width, height vg.Length) { return 15 * vg.Centimeter, 9.5 * vg.Centimeter }

func (p Plot) check() error {
	for i, s := range p.Series {
		switch {
		case s.X != nil && len(s.X) != len(s.Y):
			return fmt.Errorf("series %d (%q) has %d x and %d y values", i, s.Name, len(s.X), len(s.Y))
		case s.Texts != nil && len(s.Texts) != len(s.Y):
			return fmt.Errorf("series %d (%q) has %d texts and %d y values", i, s.Name, len(s.Texts), len(s.Y))
		case s.Style < Line || s.Style > Guide:
			return fmt.Errorf("series %d (%q) has an unknown style, %d", i, s.Name, s.Style)
		}
		for _, m := range s.Marks {
			if m < 0 || m >= len(s.Y) {
				return fmt.Errorf("series %d (%q) has %d points, of which %d is to be marked", i, s.Name, len(s.Y), m)
			}
		}
	}
	return nil
}

func (p Plot) draw(c draw.Canvas) error {
	d := plot.New()
	d.Title.Text, d.X.Label.Text, d.Y.Label.Text = p.Title, p.X, p.Y
	d.Title.Padding = vg.Points(6)
	d.Legend.Top = p.Legend == TopRight || p.Legend == TopLeft
	d.Legend.Left = p.Legend == TopLeft || p.Legend == BottomLeft
	d.Legend.Padding = vg.Points(2)
	for _, f := range []*draw.TextStyle{&d.Title.TextStyle, &d.X.Label.TextStyle, &d.Y.Label.TextStyle, &d.X.Tick.Label, &d.Y.Tick.Label, &d.Legend.TextStyle} {
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
			style = draw.LineStyle{Color: palette[color%len(palette)], Width: vg.Points(1.6)}
			glyph.Color, glyph.Shape = style.Color, glyphs[color%len(glyphs)]
			color++
		}
		if err := p.addSeries(d, s, style, glyph); err != nil {
			return err
		}
	}
	p.setAxis(&d.X, p.LogX)
	p.setAxis(&d.Y, p.LogY)
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
		last.at = append(last.at, plotter.XY{X: x, Y: y})
		last.numbers = append(last.numbers, i)
	}
	return list
}

// addSeries adds a line for every part, then the points and texts.
func (p Plot) addSeries(d *plot.Plot, s Series, style draw.LineStyle, glyph draw.GlyphStyle) error {
	var dots plotter.XYs
	var labels plotter.XYLabels
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
				labels.XYs = append(labels.XYs, at)
				labels.Labels = append(labels.Labels, s.Texts[part.numbers[i]])
			}
		}
	}
	line, points := &plotter.Line{LineStyle: style}, &plotter.Scatter{XYs: dots, GlyphStyle: glyph}
	if len(dots) > 0 {
		d.Add(points)
	}
	if s.Texts != nil {
		texts, err := plotter.NewLabels(labels)
		if err != nil {
			return fmt.Errorf("the texts of series %q: %w", s.Name, err)
		}
		for i := range texts.TextStyle {
			texts.TextStyle[i].Font.Variant = "Sans"
			texts.TextStyle[i].Font.Size = vg.Points(9)
		}
		texts.Offset = vg.Point{X: vg.Points(5), Y: vg.Points(4)}
		d.Add(texts)
	}
	if s.Name == "" {
		return nil
	}
	switch s.Style {
	case Points:
		d.Legend.Add(s.Name, points)
	case LinePoints:
		d.Legend.Add(s.Name, line, points)
	default:
		d.Legend.Add(s.Name, line)
	}
	return nil
}

// setAxis sets the scale and the range of an axis that data has been added to.
func (p Plot) setAxis(a *plot.Axis, log bool) {
	a.Padding = vg.Points(4)
	if a.Min > a.Max { // there is no data
		a.Min, a.Max = 1, 10
	}
	if log {
		a.Scale, a.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
		if a.Min == a.Max {
			a.Min, a.Max = a.Min/2, a.Max*2
		}
	}
}

// drawable tells whether a number has a place on an axis.
func drawable(v float64, log bool) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (!log || v > 0)
}
