package blas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

func random[T Float](r *rand.Rand, n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = T(r.NormFloat64())
	}
	return v
}

// product is c = a·b by its definition, in float64.
func product[T Float](a, b []T, rows, inner, cols int) []float64 {
	c := make([]float64, rows*cols)
	for i := range rows {
		for j := range cols {
			for k := range inner {
				c[i*cols+j] += float64(a[i*inner+k]) * float64(b[k*cols+j])
			}
		}
	}
	return c
}

var shapes = [][3]int{{1, 1, 1}, {1, 7, 5}, {3, 136, 32}, {125, 136, 32}, {125, 32, 1}, {1, 125, 136}, {33, 512, 17}, {4, 1, 9}, {6, 5, 40}, {7, 9, 33}, {5, 0, 3}, {0, 3, 2}, {700, 20, 64}}

func testProduct[T Float](t *testing.T, tolerance float64) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range shapes {
		rows, inner, cols := s[0], s[1], s[2]
		a, b := random[T](r, rows*inner), random[T](r, inner*cols)
		want := product(a, b, rows, inner, cols)
		room := make([]T, rows*cols+64)
		for i := range room {
			room[i] = -7
		}
		c := room[:rows*cols]
		for i := range c {
			c[i] = T(math.NaN()) // what was there before does not matter
		}
		Product(c, a, b, rows, inner, cols, nil)
		for i := range c {
			if d := math.Abs(float64(c[i]) - want[i]); !(d <= tolerance*math.Sqrt(float64(inner))) {
				t.Fatalf("%v, %T: element %d is %v, want %v", s, c, i, c[i], want[i])
			}
		}
		for _, v := range room[rows*cols:] {
			if v != -7 {
				t.Fatalf("%v, %T: something is written behind the end", s, c)
			}
		}
		// The same on any number of cores.
		again := make([]T, rows*cols)
		was := runtime.GOMAXPROCS(1)
		Product(again, a, b, rows, inner, cols, nil)
		runtime.GOMAXPROCS(was)
		if !slices.Equal(c, again) {
			t.Errorf("%v, %T: another result on one core", s, c)
		}
		// then gets every block once.
		Product(again, a, b, rows, inner, cols, func(rows []T) {
			for i := range rows {
				rows[i] *= 2
			}
		})
		for i := range c {
			if again[i] != 2*c[i] {
				t.Fatalf("%v, %T: element %d is %v after doubling %v", s, c, i, again[i], c[i])
			}
		}
	}
}

// available are the libraries that this program and machine have.
func available() []library {
	if withOpenBLAS {
		return []library{openBLAS} // gonum has been told to use it
	}
	list := []library{gonum}
	if hasAVX2 {
		list = append(list, avx2)
	}
	if hasAVX512 {
		list = append(list, avx512)
	}
	return list
}

func TestProduct(t *testing.T) {
	defer func(was library) { inUse = was }(inUse)
	for _, l := range available() {
		t.Run(names[l], func(t *testing.T) {
			inUse = l
			testProduct[float32](t, 1e-5)
			testProduct[float64](t, 1e-14)
		})
	}
}

func BenchmarkProduct(b *testing.B) {
	defer func(was library) { inUse = was }(inUse)
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][3]int{{125, 136, 32}, {125, 32, 32}, {32, 125, 136}, {4000, 136, 32}} {
		for _, l := range available() {
			b.Run(fmt.Sprintf("%dx%dx%d/%s", s[0], s[1], s[2], names[l]), func(b *testing.B) {
				inUse = l
				x, w, y := random[float32](r, s[0]*s[1]), random[float32](r, s[1]*s[2]), make([]float32, s[0]*s[2])
				for b.Loop() {
					Product(y, x, w, s[0], s[1], s[2], nil)
				}
				b.ReportMetric(2*float64(s[0]*s[1]*s[2])*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
			})
		}
	}
}
