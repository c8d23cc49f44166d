package lanes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestExpm1(t *testing.T) {
	each(t, func(t *testing.T) {
		var times Vec
		for l := range times {
			times[l] = math.Exp(0.4 * float64(l))
		}
		var w []float64
		for x := 1e-300; x < 100; x *= 3 {
			w = append(w, x)
		}
		r := make([]Vec, len(w))
		for i, x := range w {
			_, halvings := math.Frexp(x * times[Width-1] / Small)
			Expm1(r[i:], w[i:i+1], &times, max(0, halvings))
			for l, got := range r[i] {
				want := min(math.Expm1(x*times[l]), Limit)
				// Doubling the argument doubles the relative error of e^x, and rounds.
				if !(math.Abs(got-want) <= 6e-16*want*(1+x*times[l])) {
					t.Errorf("e^%v − 1 = %v, want %v", x*times[l], got, want)
				}
			}
		}
	})
}

// each runs a test with every instruction set that the machine has.
func each(t *testing.T, test func(t *testing.T)) {
	defer func(before instructions) { inUse = before }(inUse)
	for _, set := range available {
		inUse = set
		t.Run(set.name, test)
	}
}

// The instruction sets have the same results up to rounding.
func TestInstructionSets(t *testing.T) {
	for _, docs := range []int{1, 2, 3, 8, 33} {
		for _, order := range []int{1, 2, 5, 16} {
			for _, ranks := range []int{1, 2, 5, 40} {
				want := results(plainGo, docs, min(order, ranks), ranks)
				for _, set := range available {
					got := results(set, docs, min(order, ranks), ranks)
					for i := range want {
						if !(math.Abs(got[i]-want[i]) <= 1e-12*(1+math.Abs(want[i]))) {
							t.Fatalf("%s, %d documents, order %d, %d ranks: number %d is %v, in plain Go %v", set.name, docs, order, ranks, i, got[i], want[i])
						}
					}
				}
			}
		}
	}
}

// results returns the results of all functions, one after another.
func results(f instructions, docs, order, ranks int) (all []float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	var times, zero Vec
	for l := range times {
		times[l] = rng.Float64()
	}
	w, v, g := make([]float64, docs), make([]float64, docs), make([]float64, docs)
	for i := range docs {
		w[i], g[i] = rng.Float64()/float64(docs), rng.NormFloat64()
		v[i] = w[i] * g[i]
	}
	keep := func(v ...Vec) {
		for _, v := range v {
			all = append(all, v[:]...)
		}
	}
	r := make([]Vec, docs)
	f.expm1(r, w, &times, 1./8, 3)
	keep(r...)
	c := make([]Sum, order)
	f.sums(c, r, make([]Vec, docs), w, v, g)
	for _, c := range c {
		keep(c.Power, c.W, c.V)
	}
	size := min(ranks, 3)
	states := make([]State, (docs+1)*ranks)
	states[0].P = times
	f.series(states[:size], c)
	chances, u, out := make([]Chance, docs), make([]State, ranks+1), make([]float64, docs)
	f.transitions(chances, r, &times, w, g)
	f.forward(states, ranks, size, chances, g, w)
	for k := range ranks {
		u[k] = State{times, zero, Vec{3: 1}}
	}
	f.backward(out, u, states, ranks, size, chances, g, w)
	for _, s := range append(states, u...) {
		keep(s.P, s.B, s.A)
	}
	for _, c := range chances {
		keep(c.Q, c.P, c.F)
	}
	all = append(all, out...)
	s := states[docs*ranks:]
	pairs := make([]Pair, order)
	f.correlate(pairs, u, s)
	for _, p := range pairs {
		keep(p.A, p.B)
	}
	z := make([]float64, order)
	values := make([]State, order)
	for m := range z {
		z[m], values[m] = rng.Float64(), State{P: times}
	}
	f.multiply(values, z, chances, g, w)
	for _, s := range values {
		keep(s.P, s.B, s.A)
	}
	f.divide(out, pairs, z, chances, g, w)
	f.scale(r, w)
	keep(r...)
	sums, du := make([]State, (docs+1)*ranks), slices.Clone(u)
	f.seriesDual(sums[:size], states[:size], c, c, 1.5)
	some := slices.Clone(w) // zeros have a loop of their own
	for i := 1; i < docs; i += 2 {
		some[i] = 0
	}
	f.forwardDual(sums, states, ranks, size, chances, some)
	f.backwardDual(out, u, du, sums, states, ranks, size, chances, some)
	for _, s := range slices.Concat(sums, u, du) {
		keep(s.P, s.B, s.A)
	}
	dual := slices.Clone(values)
	f.multiplyDual(dual, values, z, chances, some)
	for _, s := range append(dual, values...) {
		keep(s.P, s.B, s.A)
	}
	f.divideDual(out, pairs, pairs, z, chances, some)
	all = append(all, out...)
	f.horner(g, append(pairs, Pair{times, times}), r, w, v, w)
	return append(all, g...)
}

// Masses and shares of rankings agree with their definitions, with every instruction set.
func TestRankings(t *testing.T) {
	each(t, func(t *testing.T) {
		for _, n := range []int{1, 2, 5, 11} {
			rng := rand.New(rand.NewPCG(3, uint64(n)))
			ranks, out := make([]Rank, n), make([]Vec, n)
			theta, baseline := make([]float64, n), make([]float64, n)
			var ceiling Vec
			mass, gain := 2.0, -1.0
			for p := range ranks {
				theta[p], baseline[p] = rng.NormFloat64(), rng.NormFloat64()
				for l := range Width {
					ranks[p].W[l], ranks[p].V[l] = rng.Float64()/float64(n), rng.NormFloat64()
					ceiling[l] = 0.5 / float64(n) // between the weights
				}
			}
			Remain(ranks, &Total{High: 1.75, Low: 0.25}, &Total{High: gain})
			c := Credit{Later: 1.5, Own: -0.5, Risk: 0.75}
			var shared Shared
			Place(out, ranks, theta, baseline, &c, &ceiling, &shared)
			for l := range Width {
				near := func(what string, got, want float64) {
					if t.Helper(); !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))) {
						t.Errorf("%d ranks, ranking %d: %s is %v, want %v", n, l, what, got, want)
					}
				}
				left, worth := mass, gain
				f, a, b := make([]float64, n), make([]float64, n+1), make([]float64, n+1)
				rewards := 0.0
				for p := range ranks {
					near("1/M", ranks[p].Inverse[l], 1/left)
					near("the gain", ranks[p].Gain[l], worth/left)
					later := 0.0
					for x := p + 1; x < n; x++ {
						later += theta[x] * ranks[x].Gain[l]
					}
					reward := theta[p] * ranks[p].Gain[l]
					f[p] = 1.5*later - 0.5*reward - baseline[p]
					a[p+1] = a[p] + theta[p]/left
					b[p+1] = b[p] + (f[p]+0.75*reward)/left
					rewards += reward
					left -= ranks[p].W[l]
					worth -= ranks[p].V[l]
				}
				for p := range ranks {
					w, v := ranks[p].W[l], ranks[p].V[l]
					want := f[p] + v*a[p+1] - w*b[p+1]
					if w <= ceiling[l] {
						want -= v*a[n] - w*b[n]
					}
					near("the document's part", out[p][l], want)
				}
				near("A", shared.A[l], a[n])
				near("B", shared.B[l], b[n])
				near("the reward", shared.Reward[l], rewards)
			}
		}
	})
}

// A product is the sum of products, with every instruction set, of any shape, and of a transposed matrix on the left.
func TestProduct(t *testing.T) {
	each(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(4, 4))
		for _, shape := range [][3]int{{1, 1, 1}, {3, 5, 8}, {8, 0, 3}, {9, 7, 17}, {20, 33, 9}} {
			rows, inner, cols := shape[0], shape[1], shape[2]
			a, b := NewMatrix(nil, rows, inner), NewMatrix(nil, inner, cols)
			transposed := NewMatrix(nil, inner, rows)
			for k := range inner {
				for i := range rows {
					a.Row(i)[k] = rng.NormFloat64()
					transposed.Row(k)[i] = a.Row(i)[k]
				}
				for j := range cols {
					b.Row(k)[j] = rng.NormFloat64()
				}
			}
			for _, left := range []Matrix{a, transposed.T()} {
				c := NewMatrix(nil, rows+1, cols)
				Product(Matrix{c.Numbers, rows, cols, c.Stride, false}, left, b)
				for i := range rows + 1 {
					for j := range cols {
						want := 0.0
						for k := 0; k < inner && i < rows; k++ {
							want += a.Row(i)[k] * b.Row(k)[j]
						}
						if got := c.Row(i)[j]; !(math.Abs(got-want) <= 1e-13) {
							t.Fatalf("%v: entry %d, %d is %v, want %v", shape, i, j, got, want)
						}
					}
				}
			}
		}
	})
}

// A mass that all but cancels keeps its digits.
func TestRemainPrecise(t *testing.T) {
	each(t, func(t *testing.T) {
		const tiny = 1e-20
		var mass Total
		for _, e := range []float64{1, 1. / 3, tiny} {
			mass.Add(e)
		}
		ranks := make([]Rank, 3)
		for l := range Width {
			ranks[0].W[l], ranks[1].W[l], ranks[2].W[l] = 1./3, 1, tiny
		}
		Remain(ranks, &mass, &Total{})
		for l, got := range ranks[2].Inverse {
			if !(math.Abs(got*tiny-1) <= 1e-11) {
				t.Errorf("ranking %d: 1/M is %v, want %v", l, got, 1/tiny)
			}
		}
	})
}
