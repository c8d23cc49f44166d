package viz

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// addSpread adds the bounds of the values of a series.
func addSpread(d *plot.Plot, a axes, s Series, style draw.LineStyle) error {
	if s.Low == nil && s.Left == nil {
		return nil
	}
	for _, run := range s.segments(a) {
		var err error
		if s.Style == Points {
			err = addBars(d, a, s, run, style)
		} else {
			err = addBand(d, a, s, run, style)
		}
		if err != nil {
			return fmt.Errorf("the spread of series %q: %w", s.Name, err)
		}
	}
	return nil
}

// addBand fills the area between low and high of every run of points at which both can be
// drawn.
func addBand(d *plot.Plot, a axes, s Series, run segment, style draw.LineStyle) error {
	var low, high plotter.XYs
	flush := func() error {
		if len(low) < 2 { // no area
			low, high = nil, nil
			return nil
		}
		outline := low
		for i := len(high) - 1; i >= 0; i-- {
			outline = append(outline, high[i])
		}
		low, high = nil, nil
		band, err := plotter.NewPolygon(outline)
		if err != nil {
			return err
		}
		red, green, blue, _ := style.Color.RGBA()
		band.Color = color.NRGBA{R: uint8(red >> 8), G: uint8(green >> 8), B: uint8(blue >> 8), A: 50}
		band.LineStyle.Width = 0
		d.Add(band)
		return nil
	}
	for i, at := range run.at {
		n := run.numbers[i]
		if !drawable(s.Low[n], a.logY) || !drawable(s.High[n], a.logY) {
			if err := flush(); err != nil {
				return err
			}
			continue
		}
		low = append(low, plotter.XY{X: at.X, Y: onAxis(s.Low[n], a.logY)})
		high = append(high, plotter.XY{X: at.X, Y: onAxis(s.High[n], a.logY)})
	}
	return flush()
}

// addBars adds the error bars of points.
func addBars(d *plot.Plot, a axes, s Series, run segment, style draw.LineStyle) error {
	bars := struct {
		plotter.XYs
		plotter.XErrors
		plotter.YErrors
	}{}
	for i, at := range run.at {
		n := run.numbers[i]
		bars.XYs = append(bars.XYs, at)
		bars.XErrors = append(bars.XErrors, barEnds(at.X, s.Left, s.Right, n, a.logX))
		bars.YErrors = append(bars.YErrors, barEnds(at.Y, s.Low, s.High, n, a.logY))
	}
	vertical, err := plotter.NewYErrorBars(bars)
	if err != nil {
		return err
	}
	horizontal, err := plotter.NewXErrorBars(bars)
	if err != nil {
		return err
	}
	for _, line := range []*draw.LineStyle{&vertical.LineStyle, &horizontal.LineStyle} {
		line.Color, line.Width = style.Color, style.Width/2
	}
	if s.Low != nil {
		d.Add(vertical)
	}
	if s.Left != nil {
		d.Add(horizontal)
	}
	return nil
}

// barEnds are the distances of the ends of an error bar from the value, 0 for an end that
// cannot be drawn.
func barEnds(at float64, low, high []float64, n int, log bool) (bar struct{ Low, High float64 }) {
	if low == nil {
		return bar
	}
	if drawable(low[n], log) {
		bar.Low = math.Abs(at - onAxis(low[n], log))
	}
	if drawable(high[n], log) {
		bar.High = math.Abs(onAxis(high[n], log) - at)
	}
	return bar
}
