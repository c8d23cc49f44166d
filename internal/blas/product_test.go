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

var shapes = [][3]int{{1, 1, 1}, {1, 7, 5}, {3, 136, 32}, {125, 136, 32}, {125, 32, 1}, {1, 125, 136}, {33, 300, 17}, {4, 1, 9}, {6, 5, 40}, {7, 9, 33}, {5, 0, 3}, {0, 3, 2}, {400, 20, 64}, {500, 70, 64},
	{130, 257, 40}, {11, 20, 290}, {23, 3, 31}, {9, 600, 1}, {300, 1, 300}}

// laid is a matrix of these numbers in memory as it may be: row after row or column after
// column, without gaps or as a part of a larger one, whose other numbers are NaN.
func laid[T Float](r *rand.Rand, data []T, rows, cols int) Matrix[T] {
	gap := r.IntN(2) * r.IntN(300)
	m := Matrix[T]{nil, rows, cols, cols + gap, 1}
	if r.IntN(2) == 0 {
		m.Row, m.Col = 1, rows+gap
	}
	if rows > 0 && cols > 0 {
		m.Data = make([]T, (rows-1)*m.Row+(cols-1)*m.Col+1)
	}
	for i := range m.Data {
		m.Data[i] = T(math.NaN())
	}
	for i := range rows {
		for j := range cols {
			m.Data[i*m.Row+j*m.Col] = data[i*cols+j]
		}
	}
	return m
}

// untouched is room for a product, with gaps behind its rows whose numbers must stay.
func untouched[T Float](r *rand.Rand, rows, cols int) (c Matrix[T], clean func(), intact func() bool) {
	c = Matrix[T]{nil, rows, cols, cols + r.IntN(2)*r.IntN(40), 1}
	room := make([]T, rows*c.Row+64)
	c.Data = room[:rows*c.Row]
	outside := func(i int) bool { return i >= rows*c.Row || i%c.Row >= cols }
	clean = func() {
		for i := range room {
			room[i] = T(math.NaN()) // what was there before does not matter
			if outside(i) {
				room[i] = -7
			}
		}
	}
	intact = func() bool {
		for i, v := range room {
			if outside(i) && v != -7 {
				return false
			}
		}
		return true
	}
	return c, clean, intact
}

// entries are the numbers of a matrix row after row.
func entries[T Float](m Matrix[T]) []T {
	var all []T
	for i := range m.Rows {
		for j := range m.Cols {
			all = append(all, m.Data[i*m.Row+j*m.Col])
		}
	}
	return all
}

func testProduct[T Float](t *testing.T, tolerance float64) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range shapes {
		for range 2 {
			testShape[T](t, r, tolerance, s[0], s[1], s[2])
		}
	}
}

func testShape[T Float](t *testing.T, r *rand.Rand, tolerance float64, rows, inner, cols int) {
	aData, bData := random[T](r, rows*inner), random[T](r, inner*cols)
	want := product(aData, bData, rows, inner, cols)
	a, b := laid(r, aData, rows, inner), laid(r, bData, inner, cols)
	name := fmt.Sprintf("%T [%d, %d] (%d, %d) · [%d, %d] (%d, %d)", want, rows, inner, a.Row, a.Col, inner, cols, b.Row, b.Col)
	c, clean, intact := untouched[T](r, rows, cols)
	clean()
	Product(c, a, b, End[T]{}, nil)
	got := entries(c)
	for i := range got {
		if d := math.Abs(float64(got[i]) - want[i]); !(d <= tolerance*math.Sqrt(float64(inner))) {
			t.Fatalf("%s: element %d is %v, want %v", name, i, got[i], want[i])
		}
	}
	if !intact() {
		t.Fatalf("%s: something is written outside c", name)
	}
	// The same on any number of cores, and on the calling goroutine.
	was := runtime.GOMAXPROCS(1)
	clean()
	Product(c, a, b, End[T]{}, nil)
	runtime.GOMAXPROCS(was)
	if !slices.Equal(got, entries(c)) {
		t.Errorf("%s: another result on one core", name)
	}
	clean()
	Multiply(c, a, b)
	if !slices.Equal(got, entries(c)) {
		t.Errorf("%s: another result of Multiply", name)
	}
	if !intact() {
		t.Fatalf("%s: something is written outside c", name)
	}
	// then gets every block once.
	clean()
	Product(c, a, b, End[T]{}, func(from, to int) {
		for i := from; i < to; i++ {
			for j := range cols {
				c.Data[i*c.Row+j] *= 2
			}
		}
	})
	for i, v := range entries(c) {
		if v != 2*got[i] {
			t.Fatalf("%s: element %d is %v after doubling %v", name, i, v, got[i])
		}
	}
	// The end comes after the sums.
	for _, end := range []End[T]{{Bias: random[T](r, cols)}, {ReLU: true}, {Bias: random[T](r, cols), ReLU: true}} {
		clean()
		Product(c, a, b, end, nil)
		for i, v := range entries(c) {
			want := got[i]
			if end.Bias != nil {
				want += end.Bias[i%cols]
			}
			if end.ReLU {
				want = max(want, 0)
			}
			if v != want {
				t.Fatalf("%s: element %d is %v, want %v", name, i, v, want)
			}
		}
		if !intact() {
			t.Fatalf("%s: something is written outside c", name)
		}
	}
}

// What is not a number stays so.
func TestEndKeepsNaN(t *testing.T) {
	defer func(was library) { inUse = was }(inUse)
	nan := float32(math.NaN())
	for _, inUse = range available {
		for _, rows := range []int{1, 20} {
			a, c := make([]float32, rows), make([]float32, rows*40)
			for i := range a {
				a[i] = nan
			}
			Product(RowMajor(c, rows, 40), RowMajor(a, rows, 1), RowMajor(make([]float32, 40), 1, 40), End[float32]{Bias: make([]float32, 40), ReLU: true}, nil)
			for i, v := range c {
				if v == v {
					t.Fatalf("%s, %d rows: element %d is %v, want NaN", inUse.name, rows, i, v)
				}
			}
		}
	}
}

// Every entry is one sum, in the order of the inner index, of fused multiplications, so
// that it is the same in any tile, and on any machine that has tiles.
func TestSumsGoInTheOrderOfTheInnerIndex(t *testing.T) {
	defer func(was library) { inUse = was }(inUse)
	r := rand.New(rand.NewPCG(5, 6))
	for _, inUse = range available {
		if inUse.rows == 0 {
			continue
		}
		for _, s := range shapes {
			rows, inner, cols := min(s[0], 40), s[1], min(s[2], 70)
			aData, bData := random[float32](r, rows*inner), random[float32](r, inner*cols)
			c := RowMajor(make([]float32, rows*cols), rows, cols)
			Product(c, laid(r, aData, rows, inner), laid(r, bData, inner, cols), End[float32]{}, nil)
			for i := range rows {
				for j := range cols {
					var want float32
					for k := range inner {
						want = fma32(aData[i*inner+k], bData[k*cols+j], want)
					}
					if got := c.Data[i*cols+j]; got != want {
						t.Fatalf("%s, %v: element %d, %d is %v, want %v", inUse.name, s, i, j, got, want)
					}
				}
			}
		}
	}
}

// fma32 is x·y + z, rounded once: the sum of the exact product and z in float64, rounded to
// odd (Boldo & Melquiond 2008), is rounded to float32.
func fma32(x, y, z float32) float32 {
	p, w := float64(x)*float64(y), float64(z)
	sum := p + w
	virtual := sum - p
	if rest := (p - (sum - virtual)) + (w - virtual); rest != 0 && math.Float64bits(sum)&1 == 0 {
		if (rest > 0) == (sum > 0) {
			sum = math.Float64frombits(math.Float64bits(sum) + 1)
		} else {
			sum = math.Float64frombits(math.Float64bits(sum) - 1)
		}
	}
	return float32(sum)
}

// Numbers below the smallest normal one, which some processors take a hundred times as
// long for, count as 0.
func TestSubnormalNumbersCountAsZero(t *testing.T) {
	defer func(was library) { inUse = was }(inUse)
	for _, inUse = range available {
		if inUse.rows == 0 {
			continue
		}
		for _, cols := range []int{1, 5, 32} {
			a, b := []float32{1e-30, 1e-40, 1}, make([]float32, 3*cols)
			for j := range cols {
				b[j], b[cols+j], b[2*cols+j] = 1e-10, 1, 1e-37
			}
			c := RowMajor(make([]float32, cols), 1, cols)
			Multiply(c, RowMajor(a, 1, 3), RowMajor(b, 3, cols))
			for _, v := range c.Data {
				if v != 1e-37 {
					t.Errorf("%s: %v, want 1e-37", inUse.name, v)
				}
			}
		}
	}
}

func TestProductEqualsPlainSums(t *testing.T) {
	defer func(was library) { inUse = was }(inUse)
	for _, l := range available {
		t.Run(l.name, func(t *testing.T) {
			inUse = l
			testProduct[float32](t, 1e-5)
			testProduct[float64](t, 1e-14)
		})
	}
}

// BenchmarkProduct is of a query's layers (125 documents), and of layers of batches of 4096,
// forward and backward: y = x·w, dw = xᵀ·dy, dx = dy·wᵀ.
func BenchmarkProduct(b *testing.B) {
	defer func(was library) { inUse = was }(inUse)
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][3]int{{125, 136, 32}, {4096, 136, 64}, {4096, 64, 64}, {4096, 248, 256}, {4096, 256, 128}} {
		rows, in, out := s[0], s[1], s[2]
		x, w, y := RowMajor(random[float32](r, rows*in), rows, in), RowMajor(random[float32](r, in*out), in, out), RowMajor(random[float32](r, rows*out), rows, out)
		for _, p := range []struct {
			name    string
			c, a, b Matrix[float32]
		}{{"y", y, x, w}, {"dw", w, x.T(), y}, {"dx", x, y, w.T()}} {
			for _, l := range available {
				b.Run(fmt.Sprintf("%dx%dx%d/%s/%s", rows, in, out, p.name, l.name), func(b *testing.B) {
					inUse = l
					for b.Loop() {
						Product(p.c, p.a, p.b, End[float32]{}, nil)
					}
					b.ReportMetric(2*float64(rows*in*out)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
				})
			}
		}
	}
}
