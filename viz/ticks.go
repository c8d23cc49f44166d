package viz

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// roundTicks are the ticks of a linear axis: multiples of 1, 2 or 5 times a power of ten,
// at most eight of them, as decimal numbers where these are short.
type roundTicks struct{}

func (roundTicks) Ticks(low, high float64) []plot.Tick {
	const most = 8
	step := math.Pow(10, math.Floor(math.Log10((high-low)/most)))
	for i := 0; math.Floor(high/step)-math.Ceil(low/step)+1 > most; i++ {
		step *= []float64{2, 2.5, 2}[i%3] // 1, 2, 5, 10, …
	}
	format, digits := byte('f'), max(0, -int(math.Floor(math.Log10(step)*(1+1e-12))))
	if largest := max(math.Abs(low), math.Abs(high)); largest >= 1e6 || digits > 5 {
		format, digits = 'g', 1+int(math.Floor(math.Log10(largest))-math.Floor(math.Log10(step)*(1+1e-12)))
	}
	var ticks []plot.Tick
	for k := math.Ceil(low / step); k <= math.Floor(high/step); k++ {
		v := k * step
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v+0, format, digits, 64)})
	}
	return ticks
}

// names are the ticks of an axis whose values are numbers of names, from 0.
type names []string

func (n names) Ticks(float64, float64) []plot.Tick {
	const longest = 30
	var ticks []plot.Tick
	for i, name := range n {
		if r := []rune(name); len(r) > longest {
			name = string(r[:longest-1]) + "…"
		}
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: name})
	}
	return ticks
}
