package viz

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// addSpread adds the bounds of the values of a series.
func addSpread(d *plot.Plot, p Plot, s Series, style draw.LineStyle) error {
	add := addBars
	switch {
	case s.Low == nil && s.Left == nil:
		return nil
	case s.Style != Points:
		add = addBand
	}
	if err := add(d, p, s, style); err != nil {
		return fmt.Errorf("the spread of series %q: %w", s.Name, err)
	}
	return nil
}

// addBand fills the area between low and high of every run of points at which both can be
// drawn.
func addBand(d *plot.Plot, p Plot, s Series, style draw.LineStyle) error {
	bounded := func(n int) bool {
		_, low := onAxis(s.Low[n], p.LogY)
		_, high := onAxis(s.High[n], p.LogY)
		return low && high
	}
	for _, run := range s.segments(p, bounded) {
		if len(run.at) < 2 { // no area
			continue
		}
		var low, high plotter.XYs
		for i, at := range run.at {
			bottom, _ := onAxis(s.Low[run.numbers[i]], p.LogY)
			top, _ := onAxis(s.High[run.numbers[i]], p.LogY)
			low, high = append(low, plotter.XY{X: at.X, Y: bottom}), append(high, plotter.XY{X: at.X, Y: top})
		}
		slices.Reverse(high)
		band, err := plotter.NewPolygon(append(low, high...))
		if err != nil {
			return err
		}
		red, green, blue, _ := style.Color.RGBA()
		band.Color = color.NRGBA{R: uint8(red >> 8), G: uint8(green >> 8), B: uint8(blue >> 8), A: 50}
		band.LineStyle.Width = 0
		d.Add(band)
	}
	return nil
}

// addBars adds the error bars of points.
func addBars(d *plot.Plot, p Plot, s Series, style draw.LineStyle) error {
	for _, run := range s.segments(p, anyPoint) {
		var bars struct {
			plotter.XYs
			plotter.XErrors
			plotter.YErrors
		}
		for i, at := range run.at {
			n := run.numbers[i]
			bars.XYs = append(bars.XYs, at)
			bars.XErrors = append(bars.XErrors, barEnds(at.X, s.Left, s.Right, n, p.LogX))
			bars.YErrors = append(bars.YErrors, barEnds(at.Y, s.Low, s.High, n, p.LogY))
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
	}
	return nil
}

// barEnds are the distances of the ends of an error bar from the value, 0 for an end that
// cannot be drawn.
func barEnds(at float64, low, high []float64, n int, log bool) (bar struct{ Low, High float64 }) {
	if low == nil {
		return bar
	}
	if end, ok := onAxis(low[n], log); ok {
		bar.Low = math.Abs(at - end)
	}
	if end, ok := onAxis(high[n], log); ok {
		bar.High = math.Abs(end - at)
	}
	return bar
}
