package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// compare lists the outputs that differ. Everything must be the same except pictures,
// which only have to be there, and the last digit of a number with decimals, which may be one
// more or less: processors and libraries round differently.
func compare(saved, executed notebook) []string {
	before, after := saved.codeCells(), executed.codeCells()
	if len(before) != len(after) {
		return []string{fmt.Sprintf("%d code cells became %d", len(before), len(after))}
	}
	var differences []string
	for i, c := range before {
		if c.volatile() {
			continue
		}
		if d := difference(c.outputs(), after[i].outputs()); d != "" {
			first, _, _ := strings.Cut(c.source(), "\n")
			differences = append(differences, fmt.Sprintf("code cell %d (%s): %s", i+1, first, d))
		}
	}
	return differences
}

// difference says how outputs differ, or is empty.
func difference(saved, executed []string) string {
	if len(saved) != len(executed) {
		return fmt.Sprintf("%d outputs were saved, now there are %d", len(saved), len(executed))
	}
	for i, s := range saved {
		if !same(s, executed[i]) {
			before, after := lines(s, executed[i])
			return fmt.Sprintf("saved\n\t%s\nnow\n\t%s", before, after)
		}
	}
	return ""
}

// lines are the first lines that are not the same.
func lines(saved, executed string) (before, after string) {
	a, b := strings.Split(saved, "\n"), strings.Split(executed, "\n")
	for i := range min(len(a), len(b)) {
		if !same(a[i], b[i]) {
			return a[i], b[i]
		}
	}
	return fmt.Sprintf("%d lines", len(a)), fmt.Sprintf("%d lines", len(b))
}

// number finds numbers with decimals or an exponent.
var number = regexp.MustCompile(`[-+]?[0-9]+(?:\.[0-9]+(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)`)

// same compares texts up to one unit of the last digit of numbers with decimals.
func same(saved, executed string) bool {
	a, b := number.FindAllString(saved, -1), number.FindAllString(executed, -1)
	if len(a) != len(b) || number.ReplaceAllString(saved, "#") != number.ReplaceAllString(executed, "#") {
		return false
	}
	for i := range a {
		x, err := strconv.ParseFloat(a[i], 64)
		if err != nil {
			return false
		}
		y, err := strconv.ParseFloat(b[i], 64)
		if err != nil || math.Abs(x-y) > 1.001*max(unit(a[i]), unit(b[i])) {
			return false
		}
	}
	return true
}

// unit is the value of one in the last digit of a number: 0.01 for 3.14.
func unit(s string) float64 {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	_, decimals, _ := strings.Cut(mantissa, ".")
	e, _ := strconv.Atoi(exponent)
	return math.Pow10(e - len(decimals))
}
