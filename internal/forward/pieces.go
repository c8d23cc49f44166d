// Package forward computes the layers of scoring models on plain slices, row-major and of float32
// or float64, with their vector–Jacobian products (VJP: the derivatives of a loss by the inputs,
// from those by the output). Results are bit-identical for any GOMAXPROCS.
package forward

import (
	"github.com/viterin/vek/vek32"

	"github.com/plrank/plrank/internal/blas"
	"github.com/plrank/plrank/internal/parallel"
)

type float = blas.Float

// Work is cut into parts whose size does not depend on the number of cores,
// so that results do not either.
const (
	sumBlock     = 512   // rows that a gradient sums at a time: they stay in the cache
	elementBlock = 16384 // elements of an elementwise pass
)

// inParts calls f for parts i of [0, n), each of that size but the last, on all cores.
func inParts(n, size int, f func(i, from, to int)) {
	all := (n + size - 1) / size
	parallel.For(all, parallel.Workers(all), func(_, i int) { f(i, i*size, min((i+1)*size, n)) })
}

// Elementwise calls f for parts of [0, n), on all cores.
func Elementwise(n int, f func(from, to int)) {
	inParts(n, elementBlock, func(_, from, to int) { f(from, to) })
}

// eachRow calls f for parts of the rows, on all cores.
func eachRow(rows, width int, f func(from, to int)) {
	inParts(rows, max(1, elementBlock/width), func(_, from, to int) { f(from, to) })
}

// sumRows sets sums to what add adds to them for all rows, part by part.
func sumRows[T float](rows int, sums []T, add func(r int, sums []T)) {
	width := len(sums)
	parts := make([]T, (rows+sumBlock-1)/sumBlock*width)
	inParts(rows, sumBlock, func(i, from, to int) {
		for r := from; r < to; r++ {
			add(r, parts[i*width:(i+1)*width])
		}
	})
	clear(sums)
	for ; len(parts) > 0; parts = parts[width:] {
		for j, v := range parts[:width] {
			sums[j] += v
		}
	}
}

// Add adds the first numbers of v to the first of to.
func Add[T float](to, v []T) {
	if to, ok := any(to).([]float32); ok {
		vek32.Add_Inplace(to, any(v).([]float32)[:len(to)])
		return
	}
	for i, v := range v[:len(to)] {
		to[i] += v
	}
}

// product sets y = a ⊙ b.
func product[T float](y, a, b []T) {
	if y, ok := any(y).([]float32); ok {
		copy(y, any(a).([]float32))
		vek32.Mul_Inplace(y, any(b).([]float32))
		return
	}
	for i, v := range a {
		y[i] = v * b[i]
	}
}
