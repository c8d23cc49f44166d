package viz

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// roundTicks returns the ticks of a linear axis: multiples of 1, 2 or 5 times a power of ten,
// at most that many of them and not closer than least, as decimal numbers where these are short. If the ends
// differ in their last digits alone, or by more than the largest number, they are the only ticks.
func roundTicks(low, high float64, most int, least float64) []plot.Tick {
	ends := []plot.Tick{exactTick(low), exactTick(high)}
	step := max(least, math.Pow(10, math.Floor(math.Log10((high-low)/float64(most)))))
	if !(step >= 0x1p-1022 && step <= math.MaxFloat64) {
		return ends
	}
	for i := 0; math.Floor(high/step)-math.Ceil(low/step)+1 > float64(most); i++ {
		step *= []float64{2, 2.5, 2}[i%3] // 1, 2, 5, 10, …
	}
	first, last := math.Ceil(low/step), math.Floor(high/step)
	// Beyond 2^53 a number and the next are the same.
	if !(max(math.Abs(first), math.Abs(last)) < 1<<53) {
		return ends
	}
	format, digits := byte('f'), max(0, -int(math.Floor(math.Log10(step)*(1+1e-12))))
	if largest := max(math.Abs(low), math.Abs(high)); largest >= 1e6 || digits > 5 {
		format, digits = 'g', 1+int(math.Floor(math.Log10(largest))-math.Floor(math.Log10(step)*(1+1e-12)))
	}
	var ticks []plot.Tick
	for k := first; k <= last; k++ {
		v := k * step
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v+0, format, digits, 64)})
	}
	return ticks
}

// exactTick returns a tick with all the digits of its value.
func exactTick(v float64) plot.Tick {
	return plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', -1, 64)}
}

// nameTicks returns the ticks of an axis on which 0, 1, 2, … have names.
func nameTicks(names []string, longest int) plot.ConstantTicks {
	var ticks []plot.Tick
	for i, name := range names {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: shorten(name, longest)})
	}
	return ticks
}

// shorten returns a name of at most that many characters.
func shorten(name string, longest int) string {
	if r := []rune(name); len(r) > longest {
		return string(r[:longest-1]) + "…"
	}
	return name
}

// decades returns the ticks of an axis of decimal logarithms: log10(1), log10(2), …,
// log10(10), …. The powers of ten have labels, on short axes also 2 and 5, or all. (The
// logarithmic scale of package plot leaves room for labels that are absent.)
func decades(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	const slack = 1e-9 // for the rounding of the sums below
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
