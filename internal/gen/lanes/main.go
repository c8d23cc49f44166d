// Command lanes writes the vector instructions of package lanes, with avo: every function
// once for AVX-512, with the eight numbers of a lanes.Vec in a register, and once for AVX2,
// for four of them, half of a Vec.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "gen/asm"
)

func main() {
	ConstraintExpr("amd64,!purego")
	for _, m := range []machine{{"AVX512", true}, {"AVX2", false}} {
		m.expm1()
		m.sums()
		m.horner()
		m.transitions()
		m.multiply()
		m.divide()
		m.forward()
		m.backward()
		m.series()
		m.correlate()
		m.remain()
		m.place()
	}
	Generate()
}

// A machine is a set of instructions.
type machine struct {
	name string
	wide bool
}

// Bytes from one to the next of the types of package lanes, and of float64.
const (
	vec    = 64
	state  = 3 * vec // P, B, A; also Chance and Sum, which are Q, P, F and Power, W, V, and Shared
	pair   = 2 * vec // A, B
	rank   = 4 * vec // W, V, Inverse, Gain
	number = 8
)

func (m machine) register() VecVirtual {
	if m.wide {
		return ZMM()
	}
	return YMM()
}

func (m machine) text(name, signature, doc string) {
	Text(name+m.name, signature, doc)
}

func (m machine) load(p Mem) VecVirtual {
	r := m.register()
	VMOVUPD(p, r)
	return r
}

func (m machine) zero() VecVirtual {
	r := m.register()
	if m.wide {
		VPXORQ(r, r, r)
	} else {
		VXORPD(r, r, r)
	}
	return r
}

// broadcast gives a register in which all numbers are that in memory.
func (m machine) broadcast(p Op) VecVirtual {
	r := m.register()
	VBROADCASTSD(p, r)
	return r
}

// constant gives a register in which all numbers are x.
func (m machine) constant(x float64) VecVirtual {
	return m.broadcast(ConstData(fmt.Sprint("c", nextConstant()), F64(x)))
}

var constants int

func nextConstant() int { constants++; return constants }

// parameter gives a register in which all numbers are the parameter.
func (m machine) parameter(name string) VecVirtual {
	return m.broadcast(Address(name))
}

// add adds up the numbers of r, which it overwrites, and gives the sum in the lowest.
func (m machine) add(r VecVirtual) VecVirtual {
	if m.wide {
		high := YMM()
		VEXTRACTF64X4(U8(1), r, high)
		VADDPD(high, r.AsY(), high)
		return (machine{}).add(high)
	}
	low, high := r.AsX(), XMM()
	VEXTRACTF128(U8(1), r, high)
	VADDPD(high, low, low)
	VUNPCKHPD(low, low, high)
	VADDSD(high, low, low)
	return r
}

var labels int

// repeat runs body n times, n ≥ 1, which it counts down.
func repeat(n Register, body func()) {
	labels++
	label := fmt.Sprint("repeat", labels)
	Label(label)
	body()
	DECQ(n)
	JNZ(LabelRef(label))
}

// ifPositive runs body unless n is 0 or less.
func ifPositive(n Register, body func()) {
	labels++
	label := fmt.Sprint("skip", labels)
	TESTQ(n, n)
	JLE(LabelRef(label))
	body()
	Label(label)
}

func copyOf(r Register) GPVirtual {
	c := GP64()
	MOVQ(r, c)
	return c
}

func at(base Register, displacement int) Mem { return Mem{Base: base, Disp: displacement} }

func (m machine) expm1() {
	m.text("expm1", "(r, w *float64, n int, t *float64, scale float64, halvings int)", "is expm1Go.")
	r, w, n, halvings := Word("r"), Word("w"), Word("n"), Word("halvings")
	t := m.load(at(Word("t"), 0))
	VMULPD(m.parameter("scale"), t, t)
	var coefficients []VecVirtual
	for _, c := range []float64{1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1} {
		coefficients = append(coefficients, m.constant(c))
	}
	two, limit := m.constant(2), m.constant(1e25)
	repeat(n, func() {
		y, e, more := m.broadcast(at(w, 0)), m.register(), m.register()
		VMULPD(t, y, y)
		VMOVAPD(coefficients[0], e)
		for _, c := range coefficients[1:] {
			VFMADD213PD(c, y, e)
		}
		VMULPD(y, e, e)
		k := copyOf(halvings)
		ifPositive(k, func() {
			repeat(k, func() {
				VADDPD(two, e, more)
				VMULPD(more, e, e)
			})
		})
		VMINPD(limit, e, e)
		VMOVUPD(e, at(r, 0))
		ADDQ(Imm(vec), r)
		ADDQ(Imm(number), w)
	})
	VZEROUPPER()
	RET()
}

func (m machine) sums() {
	m.text("sums", "(s *float64, order int, r, power *float64, n int, w, v *float64)", "is sumsGo.")
	s, order := Word("s"), Word("order")
	r0, power0, n0, w0, v0 := Word("r"), Word("power"), Word("n"), Word("w"), Word("v")
	one := m.constant(1)
	p, n := copyOf(power0), copyOf(n0)
	repeat(n, func() {
		VMOVUPD(one, at(p, 0))
		ADDQ(Imm(vec), p)
	})
	repeat(order, func() {
		// Two documents at a time, for two chains of additions.
		even := []VecVirtual{m.load(at(s, 0)), m.load(at(s, vec)), m.load(at(s, 2*vec))}
		odd := []VecVirtual{m.zero(), m.zero(), m.zero()}
		r, power, w, v := copyOf(r0), copyOf(power0), copyOf(w0), copyOf(v0)
		add := func(i int, sum []VecVirtual) {
			p := m.load(at(power, i*vec))
			VFMADD231PD(m.broadcast(at(w, i*number)), p, sum[1])
			VFMADD231PD(m.broadcast(at(v, i*number)), p, sum[2])
			VMULPD(at(r, i*vec), p, p)
			VADDPD(p, sum[0], sum[0])
			VMOVUPD(p, at(power, i*vec))
		}
		pairs := copyOf(n0)
		SHRQ(Imm(1), pairs)
		ifPositive(pairs, func() {
			repeat(pairs, func() {
				add(0, even)
				add(1, odd)
				ADDQ(Imm(2*vec), r)
				ADDQ(Imm(2*vec), power)
				ADDQ(Imm(2*number), w)
				ADDQ(Imm(2*number), v)
			})
		})
		rest := copyOf(n0)
		ANDQ(Imm(1), rest)
		ifPositive(rest, func() { add(0, even) })
		for i, sum := range even {
			VADDPD(odd[i], sum, sum)
			VMOVUPD(sum, at(s, i*vec))
		}
		ADDQ(Imm(state), s)
	})
	VZEROUPPER()
	RET()
}

func (m machine) horner() {
	m.text("horner", "(out, c *float64, order int, r *float64, n int, w, gain *float64)", "is hornerGo.")
	out, c, order := Word("out"), Word("c"), Word("order")
	r, n, w, g := Word("r"), Word("n"), Word("w"), Word("gain")
	// The last coefficients, from which on it goes down.
	last := copyOf(order)
	DECQ(last)
	IMUL3Q(Imm(pair), last, last)
	ADDQ(c, last)
	repeat(n, func() {
		x, gain, e := m.load(at(r, 0)), m.broadcast(at(g, 0)), m.zero()
		c, k := copyOf(last), copyOf(order)
		repeat(k, func() {
			term := m.load(at(c, vec))
			VFMSUB213PD(at(c, 0), gain, term)
			VFNMADD213PD(term, x, e)
			SUBQ(Imm(pair), c)
		})
		sum := m.add(e).AsX()
		VMULSD(at(w, 0), sum, sum)
		VADDSD(at(out, 0), sum, sum)
		VMOVSD(sum, at(out, 0))
		ADDQ(Imm(vec), r)
		ADDQ(Imm(number), w)
		ADDQ(Imm(number), g)
		ADDQ(Imm(number), out)
	})
	VZEROUPPER()
	RET()
}

// size counts the states of a row in n: full of them, but at most ranks.
func size(full, ranks Register) (n Register) {
	n = copyOf(full)
	CMPQ(n, ranks)
	CMOVQGT(ranks, n)
	return n
}

// bytes gives the bytes of n states.
func bytes(n Register) Register {
	b := GP64()
	IMUL3Q(Imm(state), n, b)
	return b
}

// transition computes q, p and f of a document from r, its weight and t.
func (m machine) transition(r, w Mem, t, one VecVirtual) (q, p, f VecVirtual) {
	x := m.load(r)
	q, p, f = m.register(), m.register(), m.broadcast(w)
	VADDPD(one, x, q)
	VDIVPD(q, one, q)
	VMULPD(q, x, p)
	VMULPD(t, f, f)
	VMULPD(q, f, f)
	return q, p, f
}

func (m machine) transitions() {
	m.text("transitions", "(chances, r *float64, docs int, t, w *float64)", "is transitionsGo.")
	chance, r, docs, w := Word("chances"), Word("r"), Word("docs"), Word("w")
	t, one := m.load(at(Word("t"), 0)), m.constant(1)
	end := Flush()
	repeat(docs, func() {
		q, p, f := m.transition(at(r, 0), at(w, 0), t, one)
		for i, v := range []VecVirtual{q, p, f} {
			VMOVUPD(v, at(chance, i*vec))
		}
		ADDQ(Imm(state), chance)
		ADDQ(Imm(vec), r)
		ADDQ(Imm(number), w)
	})
	end()
	VZEROUPPER()
	RET()
}

func (m machine) multiply() {
	m.text("multiply", "(states *float64, terms int, z, chances *float64, docs int, gain *float64)", "is multiplyGo.")
	s, terms, z := Word("states"), Word("terms"), Word("z")
	chance0, docs0, gain0 := Word("chances"), Word("docs"), Word("gain")
	end := Flush()
	repeat(terms, func() {
		p, b, a, at1 := m.load(at(s, 0)), m.load(at(s, vec)), m.load(at(s, 2*vec)), m.broadcast(at(z, 0))
		chance, docs, gain := copyOf(chance0), copyOf(docs0), copyOf(gain0)
		repeat(docs, func() {
			factor, fp := m.load(at(chance, 0)), m.load(at(chance, 2*vec))
			VFMADD231PD(at(chance, vec), at1, factor)
			VMULPD(p, fp, fp)
			VFMADD213PD(fp, factor, b)
			VMULPD(m.broadcast(at(gain, 0)), fp, fp)
			VFMADD213PD(fp, factor, a)
			VMULPD(factor, p, p)
			ADDQ(Imm(state), chance)
			ADDQ(Imm(number), gain)
		})
		for i, v := range []VecVirtual{p, b, a} {
			VMOVUPD(v, at(s, i*vec))
		}
		ADDQ(Imm(state), s)
		ADDQ(Imm(number), z)
	})
	end()
	VZEROUPPER()
	RET()
}

func (m machine) divide() {
	m.text("divide", "(out, terms *float64, count int, z, chances *float64, docs int, gain *float64)", "is divideGo.")
	out, terms0, count, z0 := Word("out"), Word("terms"), Word("count"), Word("z")
	chance, docs, gain := Word("chances"), Word("docs"), Word("gain")
	pairs0, rest0 := copyOf(count), copyOf(count)
	SHRQ(Imm(1), pairs0)
	ANDQ(Imm(1), rest0)
	end := Flush()
	repeat(docs, func() {
		q, p, g, sum := m.load(at(chance, 0)), m.load(at(chance, vec)), m.broadcast(at(gain, 0)), m.zero()
		terms, z, pairs, rest := copyOf(terms0), copyOf(z0), copyOf(pairs0), copyOf(rest0)
		// fraction is (g B − A)/(q + p z) of a term.
		fraction := func(i int) (over, under VecVirtual) {
			over, under = m.load(at(terms, i*pair+vec)), m.broadcast(at(z, i*number))
			VFMSUB213PD(at(terms, i*pair), g, over)
			VFMADD213PD(q, p, under)
			return over, under
		}
		ifPositive(pairs, func() {
			repeat(pairs, func() {
				// Two fractions by one division.
				over, under := fraction(0)
				other, beneath := fraction(1)
				VMULPD(beneath, over, over)
				VFMADD231PD(under, other, over)
				VMULPD(beneath, under, under)
				VDIVPD(under, over, over)
				VADDPD(over, sum, sum)
				ADDQ(U32(2*pair), terms)
				ADDQ(Imm(2*number), z)
			})
		})
		ifPositive(rest, func() {
			over, under := fraction(0)
			VDIVPD(under, over, over)
			VADDPD(over, sum, sum)
		})
		VMULPD(at(chance, 2*vec), sum, sum)
		total := m.add(sum).AsX()
		VADDSD(at(out, 0), total, total)
		VMOVSD(total, at(out, 0))
		ADDQ(Imm(state), chance)
		ADDQ(Imm(number), gain)
		ADDQ(Imm(number), out)
	})
	end()
	VZEROUPPER()
	RET()
}

func (m machine) forward() {
	m.text("forward", "(states *float64, ranks, size int, chances, r *float64, docs int, t, w, gain *float64)", "is forwardGo.")
	row, ranks, full := Word("states"), Word("ranks"), Word("size")
	chance, r, docs, w, gain := Word("chances"), Word("r"), Word("docs"), Word("w"), Word("gain")
	t, one, zero := m.load(at(Word("t"), 0)), m.constant(1), m.zero()
	stride := bytes(ranks)
	end := Flush()
	repeat(docs, func() {
		q, p, f := m.transition(at(r, 0), at(w, 0), t, one)
		gf := m.broadcast(at(gain, 0))
		VMULPD(f, gf, gf)
		for i, v := range []VecVirtual{q, p, f} {
			VMOVUPD(v, at(chance, i*vec))
		}
		// A row that is not full yet gets one state more.
		free := GP64()
		MOVQ(ranks, free)
		SUBQ(full, free)
		ifPositive(free, func() {
			last := bytes(full)
			ADDQ(row, last)
			for i := range 3 {
				VMOVUPD(zero, at(last, i*vec))
			}
		})
		INCQ(full)
		n, from, next := size(full, ranks), copyOf(row), copyOf(row)
		ADDQ(stride, next)
		var before [3]VecVirtual
		for i := range before {
			before[i] = m.zero()
		}
		repeat(n, func() {
			var s, to [3]VecVirtual
			for i := range s {
				s[i], to[i] = m.load(at(from, i*vec)), m.register()
				VMULPD(q, s[i], to[i])
				VFMADD231PD(p, before[i], to[i])
			}
			VFMADD231PD(f, s[0], to[1])
			VFMADD231PD(gf, s[0], to[2])
			for i := range s {
				VMOVUPD(to[i], at(next, i*vec))
				VMOVAPD(s[i], before[i])
			}
			ADDQ(Imm(state), from)
			ADDQ(Imm(state), next)
		})
		ADDQ(stride, row)
		ADDQ(Imm(state), chance)
		ADDQ(Imm(vec), r)
		ADDQ(Imm(number), w)
		ADDQ(Imm(number), gain)
	})
	end()
	VZEROUPPER()
	RET()
}

func (m machine) backward() {
	m.text("backward", "(out, u, states *float64, ranks, size int, chances *float64, docs int, gain *float64)", "is backwardGo.")
	out, u0, row, ranks, full := Word("out"), Word("u"), Word("states"), Word("ranks"), Word("size")
	chance, docs, gain := Word("chances"), Word("docs"), Word("gain")
	stride := bytes(ranks)
	end := Flush()
	// It begins with the last document.
	last, skip := copyOf(docs), GP64()
	DECQ(last)
	ADDQ(last, full)
	MOVQ(stride, skip)
	IMULQ(last, skip)
	ADDQ(skip, row)
	ADDQ(bytes(last), chance)
	for _, p := range []Register{out, gain} {
		LEAQ(Mem{Base: p, Index: last, Scale: number}, p)
	}
	repeat(docs, func() {
		q, p, f, gf := m.load(at(chance, 0)), m.load(at(chance, vec)), m.load(at(chance, 2*vec)), m.broadcast(at(gain, 0))
		VMULPD(f, gf, gf)
		bu, px, au, py := m.zero(), m.zero(), m.zero(), m.zero()
		u, s, n := copyOf(u0), copyOf(row), size(full, ranks)
		var now [3]VecVirtual
		for i := range now {
			now[i] = m.load(at(u, i*vec))
		}
		repeat(n, func() {
			chances := m.load(at(s, 0))
			VFMADD231PD(at(s, vec), now[0], bu)
			VFMADD231PD(chances, now[1], px)
			VFMADD231PD(at(s, 2*vec), now[0], au)
			VFMADD231PD(chances, now[2], py)
			var above [3]VecVirtual
			for _, i := range []int{1, 2, 0} { // the old P is needed until the end
				above[i] = m.load(at(u, state+i*vec))
				VMULPD(q, now[i], now[i])
				VFMADD231PD(p, above[i], now[i])
				switch i {
				case 1:
					VFMADD231PD(f, now[0], now[1])
				case 2:
					VFMADD231PD(gf, now[0], now[2])
				}
				VMOVUPD(now[i], at(u, i*vec))
			}
			for i := range now {
				VMOVAPD(above[i], now[i])
			}
			ADDQ(Imm(state), s)
			ADDQ(Imm(state), u)
		})
		VADDPD(px, bu, bu)
		VADDPD(py, au, au)
		VMULPD(f, au, au)
		VFMSUB231PD(gf, bu, au)
		sum := m.add(au).AsX()
		VADDSD(at(out, 0), sum, sum)
		VMOVSD(sum, at(out, 0))
		DECQ(full)
		SUBQ(stride, row)
		SUBQ(Imm(state), chance)
		SUBQ(Imm(number), gain)
		SUBQ(Imm(number), out)
	})
	end()
	VZEROUPPER()
	RET()
}

func (m machine) series() {
	m.text("series", "(s *float64, n int, c *float64, order int)", "is seriesGo.")
	s, n, c0, order := Word("s"), Word("n"), Word("c"), Word("order")
	k := GP64() // of the state in hand
	XORQ(k, k)
	one, power := m.constant(1), m.zero()
	// terms runs body for the first powers, at most as many as there are states before.
	terms := func(states Register, body func(c, p Register)) {
		p, c, j := copyOf(s), copyOf(c0), copyOf(states)
		CMPQ(j, order)
		CMOVQGT(order, j)
		ifPositive(j, func() {
			repeat(j, func() {
				body(c, p)
				ADDQ(Imm(state), c)
				SUBQ(Imm(state), p)
			})
		})
	}
	repeat(n, func() {
		ifPositive(k, func() {
			sum := m.zero()
			terms(k, func(c, p Register) {
				v := m.load(at(p, -state))
				VFMADD231PD(at(c, 0), v, sum)
			})
			VDIVPD(power, sum, sum)
			VMOVUPD(sum, at(s, 0))
		})
		INCQ(k)
		VADDPD(one, power, power)
		b, a := m.zero(), m.zero()
		terms(k, func(c, p Register) {
			v := m.load(at(p, 0))
			VFMADD231PD(at(c, vec), v, b)
			VFMADD231PD(at(c, 2*vec), v, a)
		})
		VMOVUPD(b, at(s, vec))
		VMOVUPD(a, at(s, 2*vec))
		ADDQ(Imm(state), s)
	})
	VZEROUPPER()
	RET()
}

func (m machine) correlate() {
	m.text("correlate", "(c *float64, order int, u, s *float64, n int)", "is correlateGo.")
	c, order, u0, s0, n := Word("c"), Word("order"), Word("u"), Word("s"), Word("n")
	repeat(order, func() {
		bu, px, au, py := m.zero(), m.zero(), m.zero(), m.zero()
		u, s, k := copyOf(u0), copyOf(s0), copyOf(n)
		repeat(k, func() {
			carried, chances := m.load(at(u, 0)), m.load(at(s, 0))
			VFMADD231PD(at(s, vec), carried, bu)
			VFMADD231PD(at(u, vec), chances, px)
			VFMADD231PD(at(s, 2*vec), carried, au)
			VFMADD231PD(at(u, 2*vec), chances, py)
			ADDQ(Imm(state), u)
			ADDQ(Imm(state), s)
		})
		VADDPD(px, bu, bu)
		VADDPD(py, au, au)
		VMOVUPD(au, at(c, 0))
		VMOVUPD(bu, at(c, vec))
		ADDQ(Imm(pair), c)
		ADDQ(Imm(state), u0)
		DECQ(n)
	})
	VZEROUPPER()
	RET()
}

func (m machine) remain() {
	m.text("remain", "(ranks *float64, n int, totals *float64)", "is remainGo.")
	rank0, n, totals := Word("ranks"), Word("n"), Word("totals")
	one := m.constant(1)
	var high, low [2]VecVirtual // of the mass and of the gain
	for i := range high {
		high[i], low[i] = m.broadcast(at(totals, 2*i*number)), m.broadcast(at(totals, (2*i+1)*number))
	}
	repeat(n, func() {
		inverse, gain := m.register(), m.register()
		VADDPD(low[0], high[0], inverse)
		VDIVPD(inverse, one, inverse)
		VMOVUPD(inverse, at(rank0, 2*vec))
		VADDPD(low[1], high[1], gain)
		VMULPD(inverse, gain, gain)
		VMOVUPD(gain, at(rank0, 3*vec))
		for i := range high {
			x, sum, part, kept := m.load(at(rank0, i*vec)), m.register(), m.register(), m.register()
			VSUBPD(x, high[i], sum)
			VSUBPD(high[i], sum, part)
			VSUBPD(part, sum, kept)
			VSUBPD(kept, high[i], kept)
			VADDPD(part, x, x)
			VSUBPD(x, kept, kept)
			VADDPD(kept, low[i], low[i])
			VMOVAPD(sum, high[i])
		}
		ADDQ(U32(rank), rank0)
	})
	VZEROUPPER()
	RET()
}

// upTo gives x where a is at most b, else 0.
func (m machine) upTo(a, b, x VecVirtual) VecVirtual {
	const lessOrEqual = 2
	r := m.register()
	if m.wide {
		mask := K()
		VCMPPD(U8(lessOrEqual), b, a, mask)
		VMOVAPD_Z(x, mask, r)
	} else {
		VCMPPD(U8(lessOrEqual), b, a, r)
		VANDPD(x, r, r)
	}
	return r
}

func (m machine) place() {
	m.text("place", "(out, ranks *float64, n int, theta, baseline, credit, ceiling, shared *float64)", "is placeGo.")
	out, rank0, n := Word("out"), Word("ranks"), Word("n")
	theta, baseline, credit, shared := Word("theta"), Word("baseline"), Word("credit"), Word("shared")
	ceiling := m.load(at(Word("ceiling"), 0))
	later, own, risk := m.broadcast(at(credit, 0)), m.broadcast(at(credit, number)), m.broadcast(at(credit, 2*number))
	sumA, sumB, rewards := m.zero(), m.zero(), m.zero()
	// It begins with the last rank.
	last, skip := copyOf(n), GP64()
	DECQ(last)
	for _, p := range []Register{theta, baseline} {
		LEAQ(Mem{Base: p, Index: last, Scale: number}, p)
	}
	IMUL3Q(Imm(vec), last, skip)
	ADDQ(skip, out)
	IMUL3Q(U32(rank), last, skip)
	ADDQ(skip, rank0)
	repeat(copyOf(n), func() {
		t, reward, f, g, inverse := m.broadcast(at(theta, 0)), m.register(), m.register(), m.register(), m.load(at(rank0, 2*vec))
		VMULPD(at(rank0, 3*vec), t, reward)
		VMOVAPD(reward, f)
		VFMSUB213PD(m.broadcast(at(baseline, 0)), own, f)
		VFMADD231PD(rewards, later, f)
		VMOVUPD(f, at(out, 0))
		VADDPD(reward, rewards, rewards)
		VMOVAPD(reward, g)
		VFMADD213PD(f, risk, g)
		VFMADD231PD(inverse, t, sumA)
		VFMADD231PD(inverse, g, sumB)
		SUBQ(Imm(number), theta)
		SUBQ(Imm(number), baseline)
		SUBQ(Imm(vec), out)
		SUBQ(U32(rank), rank0)
	})
	for i, v := range []VecVirtual{sumA, sumB, rewards} {
		VMOVUPD(v, at(shared, i*vec))
	}
	a, b := m.zero(), m.zero()
	repeat(n, func() {
		ADDQ(Imm(number), theta)
		ADDQ(Imm(vec), out)
		ADDQ(U32(rank), rank0)
		t, reward, inverse, w := m.broadcast(at(theta, 0)), m.register(), m.load(at(rank0, 2*vec)), m.load(at(rank0, 0))
		f := m.load(at(out, 0))
		VMULPD(at(rank0, 3*vec), t, reward)
		VFMADD213PD(f, risk, reward) // g
		VFMADD231PD(inverse, t, a)
		VFMADD231PD(inverse, reward, b)
		restA, restB := m.upTo(w, ceiling, sumA), m.upTo(w, ceiling, sumB)
		VSUBPD(restA, a, restA)
		VSUBPD(restB, b, restB)
		VFMADD231PD(at(rank0, vec), restA, f)
		VFNMADD231PD(w, restB, f)
		VMOVUPD(f, at(out, 0))
	})
	VZEROUPPER()
	RET()
}
