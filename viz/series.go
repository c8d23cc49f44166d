package viz

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// Series is one curve of a Plot. NaN and infinite values are gaps.
type Series struct {
	// Name is shown in the legend. "": the series is not in the legend.
	Name string

	// X and Y have the same length. X nil: 1, 2, 3, …
	X, Y []float64

	Style Style

	// Texts are written next to the points. nil: none.
	Texts []string

	// Low and High are the bounds of each Y; nil: none. A line has a band between them, and points
	// without a line have error bars. Bounds that are not finite are not drawn.
	Low, High []float64

	// Left and Right are the ends of an error bar of each X, for points without a line; nil: none.
	Left, Right []float64

	// Color is the number of a colour from 1 to 7, so that several plots can share it. 0: the next one.
	Color int
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

// check returns an error if the fields do not match.
func (s Series) check() error {
	switch {
	case s.X != nil && len(s.X) != len(s.Y):
		return fmt.Errorf("%d x and %d y values", len(s.X), len(s.Y))
	case s.Texts != nil && len(s.Texts) != len(s.Y):
		return fmt.Errorf("%d texts and %d y values", len(s.Texts), len(s.Y))
	case !fit(s.Low, s.High, s.Y):
		return fmt.Errorf("%d y values, but %d low and %d high ones", len(s.Y), len(s.Low), len(s.High))
	case !fit(s.Left, s.Right, s.Y):
		return fmt.Errorf("%d points, but %d left and %d right ends", len(s.Y), len(s.Left), len(s.Right))
	case s.Left != nil && s.Style != Points:
		return errors.New("left and right ends, which are for points without a line")
	case s.Color < 0 || s.Color > len(palette):
		return fmt.Errorf("colour %d of %d", s.Color, len(palette))
	case s.Style < Line || s.Style > Guide:
		return fmt.Errorf("an unknown style, %d", s.Style)
	}
	return nil
}

// fractional reports whether an X is not a whole number.
func (s Series) fractional() bool {
	return slices.ContainsFunc(s.X, func(x float64) bool { return x != math.Trunc(x) })
}

// fit reports whether error bars have no ends, or one low and one high end for each value.
func fit(low, high, values []float64) bool {
	return len(low) == len(high) && (low == nil || len(low) == len(values))
}

// A segment is a run of points of a series without a gap, with their numbers.
type segment struct {
	at      plotter.XYs
	numbers []int
}

// segments splits a series in a plot at its gaps, and at the points that are not valid.
func (s Series) segments(p Plot, valid func(number int) bool) []segment {
	var list []segment
	gap := true
	for i, y := range s.Y {
		x := float64(i + 1)
		if s.X != nil {
			x = s.X[i]
		}
		atX, okX := onAxis(x, p.LogX)
		atY, okY := onAxis(y, p.LogY)
		if !okX || !okY || !valid(i) {
			gap = true
			continue
		}
		if gap {
			list = append(list, segment{})
			gap = false
		}
		last := &list[len(list)-1]
		last.at = append(last.at, plotter.XY{X: atX, Y: atY})
		last.numbers = append(last.numbers, i)
	}
	return list
}

// anyPoint accepts all points.
func anyPoint(int) bool { return true }

// onAxis returns the position of a number on an axis, and whether it can be drawn there: axes must
// have a finite length.
func onAxis(v float64, log bool) (at float64, drawable bool) {
	if log {
		return math.Log10(v), v > 0 && v <= math.MaxFloat64/4
	}
	return v, math.Abs(v) <= math.MaxFloat64/4
}

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

// barEnds returns the distances of the ends of an error bar from the value, 0 for an end that
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
