// Package order puts positions into the order of their numbers.
package order

import (
	"cmp"
	"slices"
)

// Descending is the positions of numbers, the highest first; equal ones keep their order, and
// NaN is last.
func Descending(numbers []float64) []int {
	order := make([]int, len(numbers))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(numbers[b], numbers[a]), a-b) })
	return order
}
