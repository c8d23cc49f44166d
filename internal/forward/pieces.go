package forward

import (
	"github.com/viterin/vek/vek32"

	"github.com/plrank/plrank/internal/blas"
	"github.com/plrank/plrank/internal/parallel"
)

type float = blas.Float

// Work is cut into pieces whose size does not depend on the number of cores,
// so that results do not either.
const (
	sumBlock     = 512   // rows that a gradient sums at a time: they stay in the cache
	elementBlock = 16384 // elements of an elementwise pass
)

func blocks(n, size int) int { return (n + size - 1) / size }

// Add adds the first numbers of v to those of to.
func Add[T float](to, v []T) {
	switch to := any(to).(type) {
	case []float32:
		vek32.Add_Inplace(to, any(v).([]float32)[:len(to)])
	case []float64:
		for i, v := range any(v).([]float64)[:len(to)] {
			to[i] += v
		}
	}
}

// sumRows sets sums to what add adds to them for all rows, block by block.
func sumRows[T float](rows int, sums []T, add func(r int, sums []T)) {
	n, width := blocks(rows, sumBlock), len(sums)
	if n == 1 {
		clear(sums)
		for r := range rows {
			add(r, sums)
		}
		return
	}
	scratch := make([]T, n*width)
	parallel.For(n, parallel.Workers(n), func(_, i int) {
		for r := i * sumBlock; r < min((i+1)*sumBlock, rows); r++ {
			add(r, scratch[i*width:(i+1)*width])
		}
	})
	clear(sums)
	for i := range n {
		for j, v := range scratch[i*width : (i+1)*width] {
			sums[j] += v
		}
	}
}

// Elementwise calls f for pieces of [0, n), on all cores.
func Elementwise(n int, f func(from, to int)) {
	all := blocks(n, elementBlock)
	parallel.For(all, parallel.Workers(all), func(_, i int) {
		f(i*elementBlock, min((i+1)*elementBlock, n))
	})
}

// eachRow calls f for pieces of the rows, on all cores.
func eachRow(rows, width int, f func(from, to int)) {
	size := max(1, elementBlock/width)
	n := blocks(rows, size)
	parallel.For(n, parallel.Workers(n), func(_, i int) { f(i*size, min((i+1)*size, rows)) })
}
