package main

import (
	"math"
	"slices"
	"strconv"

	"github.com/plrank/plrank/viz"
)

// A curve is the values of several runs at the same places.
type curve struct {
	x    []float64
	runs [][]float64 // [run][x]
}

// curveOf reads the curve of a measure by epoch from rows of runs.
func curveOf(t *csvTable, measure string) (curve, error) {
	var c curve
	for _, epoch := range t.distinct("epoch") {
		x, err := strconv.ParseFloat(epoch, 64)
		if err != nil {
			return c, err
		}
		c.x = append(c.x, x)
	}
	for _, run := range t.distinct("run") {
		values, err := t.where("run", run).floats(measure)
		if err != nil {
			return c, err
		}
		c.runs = append(c.runs, values)
	}
	return c, nil
}

// at is the values of all runs at place i.
func (c curve) at(i int) []float64 {
	var values []float64
	for _, run := range c.runs {
		if i < len(run) && !math.IsNaN(run[i]) {
			values = append(values, run[i])
		}
	}
	return values
}

// last is the values of all runs at the last place.
func (c curve) last() []float64 { return c.at(len(c.x) - 1) }

// band is the mean with a band of one standard deviation to either side. There is
// neither where a run has no value yet.
func (c curve) band(m method) viz.Series {
	s := viz.Series{Name: m.label, Color: m.color, X: slices.Clone(c.x)}
	for i := range c.x {
		mean, sd := math.NaN(), math.NaN()
		if values := c.at(i); len(values) == len(c.runs) {
			mean, sd = meanSD(values)
		}
		s.Y = append(s.Y, mean)
		s.Low = append(s.Low, mean-sd)
		s.High = append(s.High, mean+sd)
	}
	return s
}
