package main

import (
	"fmt"
	"math"
	"strconv"
)

// bracketedShort is mean and standard deviation with as many digits as make sense: two
// significant ones of the latter.
func bracketedShort(values []float64) string {
	mean, sd := meanSD(values)
	if !(sd > 0) {
		return short(mean)
	}
	return bracketed(values, max(0, 1-int(math.Floor(math.Log10(sd)))))
}

// short is a number with three significant digits.
func short(v float64) string {
	if v >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// samplesText is a number of samples in a table.
func samplesText(loss string, samples int) string { return samplesAt(loss, strconv.Itoa(samples)) }

// samplesAt is what stands in a table for a method that is compared with others of that
// number of samples.
func samplesAt(loss, samples string) string {
	if isExact(loss) {
		return unlimited
	}
	return samples
}

// methodsOf are the methods of the losses of a CSV table. Their loss is what the CSV table
// has.
func methodsOf(t *csvTable, of func(loss string) method) []method {
	var list []method
	for _, loss := range t.distinct("loss") {
		m := of(loss)
		m.loss = loss
		list = append(list, m)
	}
	recolor(list)
	return list
}

// bracketed is the mean of values and, where there are several, their standard
// deviation in brackets.
func bracketed(values []float64, digits int) string {
	mean, sd := meanSD(values)
	if math.IsNaN(mean) {
		return "–"
	}
	text := strconv.FormatFloat(mean, 'f', digits, 64)
	if !math.IsNaN(sd) {
		text += fmt.Sprintf(" (%.*f)", digits, sd)
	}
	return text
}
func first(a, _ float64) float64 { return a }

// doublings are the places, from 0, of epochs 1, 2, 4, 8, … and of the last.
func doublings(epochs int) []int {
	var places []int
	for e := 1; e < epochs; e *= 2 {
		places = append(places, e-1)
	}
	return append(places, epochs-1)
}
