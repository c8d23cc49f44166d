package viz

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/plrank/plrank/internal/file"
)

// Plot is a diagram of curves or points.
type Plot struct {
	Title string

	// X and Y are the labels of the axes. A label that is longer than its axis is shortened.
	X, Y string

	// LogX and LogY make an axis logarithmic. Numbers that are not positive are then gaps.
	LogX, LogY bool

	// YNames are shown at y = 0, 1, 2, … instead of numbers. nil: numbers are shown.
	YNames []string

	Series []Series

	// Small makes the plot 9 cm wide instead of 17, with the legend on top and shorter names: for
	// a phone, or for several plots side by side.
	Small bool
}

// SVG returns the plot as an SVG document. It panics if the fields of a series do not match, such
// as X and Y of different lengths.
func (p Plot) SVG() string {
	var b bytes.Buffer
	if err := p.write(".svg", &b); err != nil {
		panic("viz: " + err.Error())
	}
	return b.String()
}

// Save writes the plot to a file, in the format that its name ends in: .svg, .png
// or .pdf.
func (p Plot) Save(path string) error {
	ending := strings.ToLower(filepath.Ext(path))
	if canvases[ending] == nil {
		return fmt.Errorf("viz: %s: the name of a picture ends in .svg, .png or .pdf", path)
	}
	if err := file.Write(path, func(w io.Writer) error { return p.write(ending, w) }); err != nil {
		return fmt.Errorf("viz: %w", err)
	}
	return nil
}

// String describes the plot in a few words.
func (p Plot) String() string {
	return fmt.Sprintf("plot of %s against %s, %d series", p.Y, p.X, len(p.Series))
}

func (p Plot) size() (width, height vg.Length) {
	width, height = 17*vg.Centimeter, 9*vg.Centimeter
	if p.Small {
		width, height = 9*vg.Centimeter, 6.5*vg.Centimeter
		for _, s := range p.Series {
			if s.Name != "" {
				height += vg.Points(14)
			}
		}
	}
	return width, max(height, vg.Length(len(p.YNames)+5)*vg.Points(14))
}

// mostTicks is the number of ticks that an axis has room for.
func (p Plot) mostTicks() int {
	if p.Small {
		return 4
	}
	return 8
}

// longestName is the number of characters of a name at an axis.
func (p Plot) longestName() int {
	if p.Small {
		return 16
	}
	return 30
}

func (p Plot) check() error {
	for i, s := range p.Series {
		if err := s.check(); err != nil {
			return fmt.Errorf("series %d (%q) has %w", i, s.Name, err)
		}
	}
	return nil
}

// draw draws the plot on a canvas of its size.
func (p Plot) draw(c draw.Canvas) error {
	d := plot.New()
	d.Title.Text = p.Title
	d.Title.Padding = vg.Points(6)
	// The legend has its own space, next to the curves.
	legend := plot.NewLegend()
	legend.Top, legend.Left, legend.Padding = true, true, vg.Points(4)
	for _, f := range []*draw.TextStyle{&d.Title.TextStyle, &d.X.Label.TextStyle, &d.Y.Label.TextStyle, &d.X.Tick.Label, &d.Y.Tick.Label,
		&legend.TextStyle} {
		f.Font.Variant = "Sans"
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = lightGrey, lightGrey
	d.Add(grid)

	next := 0
	for _, s := range p.Series {
		style := draw.LineStyle{Color: grey, Width: vg.Points(1), Dashes: []vg.Length{vg.Points(4), vg.Points(3)}}
		glyph := draw.GlyphStyle{Color: grey, Radius: vg.Points(3), Shape: draw.CircleGlyph{}}
		if s.Style != Guide {
			number := s.Color - 1
			if number < 0 {
				number = next % len(palette)
				next++
			}
			style = draw.LineStyle{Color: palette[number], Width: vg.Points(1.6)}
			glyph.Color, glyph.Shape = style.Color, glyphs[number]
		}
		if err := addSpread(d, p, s, style); err != nil {
			return err
		}
		if p.Small {
			s.Name = shorten(s.Name, 2*p.longestName())
		}
		addSeries(d, &legend, p, s, style, glyph)
	}
	least := 0.
	if !slices.ContainsFunc(p.Series, Series.fractional) {
		least = 1 // epochs and days have no halves
	}
	setAxis(&d.X, p.LogX, p.mostTicks(), least)
	setAxis(&d.Y, p.LogY, p.mostTicks(), 0)
	if p.YNames != nil {
		d.Y.Tick.Marker = nameTicks(p.YNames, p.longestName())
	}
	c = draw.Crop(c, vg.Points(4), -vg.Points(12), vg.Points(4), -vg.Points(6)) // the last ticks have room
	// A reader's font may be wider than the one measured here.
	if size := legend.Rectangle(c).Size(); size.X > 0 && p.Small {
		legend.Draw(draw.Crop(c, vg.Points(8), 0, 0, 0))
		c = draw.Crop(c, 0, 0, 0, -size.Y-vg.Points(8))
	} else if width := size.X * 1.15; width > 0 {
		legend.Draw(draw.Crop(c, c.Size().X-width, 0, 0, -vg.Points(22))) // below the title
		c = draw.Crop(c, 0, -width-vg.Points(10), 0, 0)
	}
	d.X.Label.Text, d.Y.Label.Text = fitted(d.X.Label.TextStyle, p.X, c.Size().X*3/4), fitted(d.Y.Label.TextStyle, p.Y, c.Size().Y*3/4)
	d.Draw(c)
	return nil
}

// fitted returns a label, shortened if it is longer than its axis: a longer one would be cut off, and take space from the curves.
func fitted(style text.Style, label string, length vg.Length) string {
	for characters := utf8.RuneCountInString(label); characters > 1 && style.Rectangle(label).Size().X > length; characters-- {
		label = shorten(label, characters-1)
	}
	return label
}

// addSeries adds a line for every segment, then the points and texts.
func addSeries(d *plot.Plot, legend *plot.Legend, p Plot, s Series, style draw.LineStyle, glyph draw.GlyphStyle) {
	var dots plotter.XYs
	var labels pointTexts
	for _, run := range s.segments(p, anyPoint) {
		if s.Style != Points {
			d.Add(&plotter.Line{XYs: run.at, LineStyle: style})
		}
		for i, at := range run.at {
			alone := len(run.at) == 1 // no line shows it
			if alone || s.Style == Points || s.Style == LinePoints {
				dots = append(dots, at)
			}
			if s.Texts != nil {
				labels.at = append(labels.at, at)
				labels.texts = append(labels.texts, s.Texts[run.numbers[i]])
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
		return
	}
	switch s.Style {
	case Points:
		legend.Add(s.Name, points)
	case LinePoints:
		legend.Add(s.Name, line, points)
	default:
		legend.Add(s.Name, line)
	}
}

// setAxis sets the range and the ticks of an axis that data has been added to. Ticks of a linear axis are at least that far apart.
func setAxis(a *plot.Axis, log bool, most int, least float64) {
	a.Padding = vg.Points(4)
	if a.Min > a.Max { // without data
		a.Min, a.Max = 0, 1
	}
	a.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick { return roundTicks(low, high, most, least) })
	if log {
		a.Tick.Marker = plot.TickerFunc(decades)
	}
}

// pointTexts draws texts next to points. A text is put, preferably right and above, where it
// is neither cut off nor covers another text. If there is no such spot, it is left out.
type pointTexts struct {
	at    plotter.XYs
	texts []string
	style text.Style
}

func (l pointTexts) Plot(c draw.Canvas, p *plot.Plot) {
	const away = vg.Length(5)
	var taken []vg.Rectangle
	trX, trY := p.Transforms(&c)
	for i, at := range l.at {
		x, y := trX(at.X), trY(at.Y)
		size := l.style.Rectangle(l.texts[i]).Size()
		for _, corner := range []vg.Point{
			{X: x + away, Y: y + away}, {X: x + away, Y: y - away - size.Y},
			{X: x - away - size.X, Y: y + away}, {X: x - away - size.X, Y: y - away - size.Y},
		} {
			box := vg.Rectangle{Min: corner, Max: corner.Add(size)}
			overlaps := func(b vg.Rectangle) bool {
				return box.Min.X < b.Max.X && b.Min.X < box.Max.X && box.Min.Y < b.Max.Y && b.Min.Y < box.Max.Y
			}
			inside := c.Min.X <= box.Min.X && c.Min.Y <= box.Min.Y && box.Max.X <= c.Max.X && box.Max.Y <= c.Max.Y
			if !inside || slices.ContainsFunc(taken, overlaps) {
				continue
			}
			taken = append(taken, box)
			c.FillText(l.style, corner, l.texts[i])
			break
		}
	}
}
