// Command elementwise writes the vector instructions of package elementwise, with avo: AVX2 for the softmax, AVX-512 for Adam and
// logistic functions.
package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "gen/asm"
)

func main() {
	ConstraintExpr("amd64,!purego")
	exponentials()
	adam()
	logistic()
	Generate()
}

func exponentials() {
	Text("expAVX2", "(x *float32, n int, max, scale float32) float32", "is exponentials for n numbers, a multiple of 8 and 8 at least.")
	x, n := Word("x"), Word("n")
	highest, scale := broadcast(Address("max")), broadcast(Address("scale"))
	// In memory: there are but sixteen registers without AVX-512.
	least, stepsPerX := eight("least", -60), eight("stepsPerX", math.Log2E)
	// ln 2 in two parts, of which the first has so few digits that multiples are exact.
	ln2, rest := constant("ln2", 0.693359375), constant("rest", float32(math.Ln2-0.693359375))
	one := constant("one", 1)
	// e^r = 1 + r + r²·p(r) for |r| ≤ ln 2 / 2: the polynomial of Cephes' expf (Moshier).
	var p []VecVirtual
	for i, c := range []float32{1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1} {
		p = append(p, constant(string(rune('a'+i)), c))
	}
	sum := YMM()
	VXORPS(sum, sum, sum)
	Label("next")
	v, k, r, e := YMM(), YMM(), YMM(), YMM()
	VMOVUPS(Mem{Base: x}, v)
	VSUBPS(highest, v, v)
	VMULPS(scale, v, v)
	const nearest = 8
	VMULPS(stepsPerX, v, k)
	VROUNDPS(U8(nearest), k, k)
	VMOVAPS(v, r)
	VFNMADD231PS(ln2, k, r)
	VFNMADD231PS(rest, k, r)
	VMOVAPS(p[0], e)
	for _, c := range p[1:] {
		VFMADD213PS(c, r, e)
	}
	VMULPS(r, e, e)
	VFMADD213PS(one, r, e) // 1 + r·(r·p), and then + r
	VADDPS(r, e, e)
	VCVTPS2DQ(k, k) // times 2^k: k is added to the exponent
	VPSLLD(U8(23), k, k)
	VPADDD(k, e, e)
	const below = 1 // NaN is not
	VCMPPS(U8(below), least, v, v)
	VANDNPS(e, v, e)
	VMOVUPS(e, Mem{Base: x})
	VADDPS(e, sum, sum)
	ADDQ(Imm(32), x)
	SUBQ(Imm(8), n)
	JNZ(LabelRef("next"))

	low, high := sum.AsX(), XMM()
	VEXTRACTF128(U8(1), sum, high)
	VADDPS(high, low, low)
	VMOVHLPS(low, low, high)
	VADDPS(high, low, low)
	VMOVSHDUP(low, high)
	VADDSS(high, low, low)
	Store(low, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// broadcast gives a register in which all numbers are that in memory.
func broadcast(from Mem) VecVirtual {
	r := YMM()
	VBROADCASTSS(from, r)
	return r
}

func constant(name string, v float32) VecVirtual { return broadcast(Stored(name, F32(v))) }

// eight gives where a register's worth of a constant is in memory.
func eight(name string, v float32) Mem {
	f := F32(v)
	return Stored(name, f, f, f, f, f, f, f, f)
}

func adam() {
	Text(
		"adamAVX512",
		"(w, gradient, mean, squares *float32, n int, rate, unbias float64)",
		"is Adam for n numbers, a multiple of 8 and 8 at least.",
	)
	w, g, mean, squares, n := Word("w"), Word("gradient"), Word("mean"), Word("squares"), Word("n")
	rate, unbias, epsilon := All64(Address("rate")), All64(Address("unbias")), Floats64("epsilon", 1e-8)
	single := func(name string, v float32) Register { return Floats32(name, v).AsY() }
	keep1, take1 := single("keep1", 0.9), single("take1", 1-0.9)
	keep2, take2 := single("keep2", 0.999), single("take2", 1-0.999)
	size, normal := ZMM(), single("normal", 0x1p-126)
	VPBROADCASTD(ConstData("size", U32(1<<31-1)), size)
	const less = 0x11
	flush := func(v Register) {
		t, small := ZMM(), K()
		VPANDD(size.AsY(), v, t.AsY())
		VCMPPS(U8(less), normal, t.AsY(), small)
		VPXORD(t.AsY(), t.AsY(), t.AsY())
		VMOVAPS(t.AsY(), small, v)
	}
	Label("next")
	v, m, s, t := YMM(), YMM(), YMM(), YMM()
	VMOVUPS(Mem{Base: g}, v)
	VMULPS(Mem{Base: mean}, keep1, m)
	VMULPS(v, take1, t)
	VADDPS(t, m, m)
	flush(m)
	VMOVUPS(m, Mem{Base: mean})
	VMULPS(v, take2, t)
	VMULPS(v, t, t)
	VMULPS(Mem{Base: squares}, keep2, s)
	VADDPS(t, s, s)
	flush(s)
	VMOVUPS(s, Mem{Base: squares})
	a, b := ZMM(), ZMM()
	VCVTPS2PD(m, a)
	VMULPD(rate, a, a)
	VCVTPS2PD(s, b)
	VSQRTPD(b, b)
	VDIVPD(unbias, b, b)
	VADDPD(epsilon, b, b)
	VDIVPD(b, a, a)
	VCVTPD2PS(a, t)
	VMOVUPS(Mem{Base: w}, v)
	VSUBPS(t, v, v)
	VMOVUPS(v, Mem{Base: w})
	for _, p := range []Register{w, g, mean, squares} {
		ADDQ(Imm(32), p)
	}
	SUBQ(Imm(8), n)
	JNZ(LabelRef("next"))
	VZEROUPPER()
	RET()
}

// logistic has the operations of elementwise.Logistic in their order, and no products that are added to before they are rounded.
func logistic() {
	Text("logisticAVX512", "(x, value, slope, curvature *float64, n int, tables *float64)",
		"is Logistic for n numbers, a multiple of 8 and 8 at least.")
	x, value, slope, curvature, n, from := Word("x"), Word("value"), Word("slope"), Word("curvature"), Word("n"), Word("tables")
	const steps = 16
	shift, one, oneBits := Floats64("shift", 0x1.8p52), Floats64("one64", 1), Bits64("oneBits", 1023<<52)
	size, zero := Bits64("size64", 1<<63-1), ZMM()
	VPXORQ(zero, zero, zero)
	limit, perX := Floats64("mostLogistic", 700), Floats64("stepsPerX64", steps/math.Ln2)
	high, rest := Floats64("ln2High", 6.93147180369123816490e-01/steps), Floats64("ln2Low", 1.90821492927058770002e-10/steps)
	width, last, part := Floats64("steps", steps), Floats64("lastStep", steps-1), Floats64("step", 1./steps)
	var tables [3][2]VecVirtual
	for i := range tables {
		for j := range tables[i] {
			tables[i][j] = ZMM()
			VMOVUPD(Mem{Base: from, Disp: 64 * (2*i + j)}, tables[i][j])
		}
	}
	// entry gives those of a table that the low bits of numbers name.
	entry := func(table int, index Register) Register {
		v := ZMM()
		VMOVAPD(index, v)
		VPERMI2PD(tables[table][1], tables[table][0], v)
		return v
	}
	series := func(name string, r Register, c ...float64) Register {
		v := ZMM()
		VBROADCASTSD(Stored(name, F64(c[0])), v)
		for i, c := range c[1:] {
			VMULPD(r, v, v)
			VADDPD_BCST(Stored(name+string(rune('a'+i)), F64(c)), v, v)
		}
		return v
	}
	Label("nextLogistic")
	v, t, r, u := ZMM(), ZMM(), ZMM(), ZMM()
	given, positive := ZMM(), K()
	VMOVUPD(Mem{Base: x}, given)
	const greater = 30
	VCMPPD(U8(greater), zero, given, positive)
	VPANDQ(size, given, v)
	VMINPD(v, limit, v) // NaN stays
	VMULPD(perX, v, t)
	VADDPD(shift, t, t)
	VSUBPD(shift, t, u)
	VMULPD(high, u, r)
	VSUBPD(v, r, r)
	VMULPD(rest, u, u)
	VADDPD(u, r, r)
	e := series("expSeries", r, 1./720, 1./120, 1./24, 1./6, 1./2, 1)
	VMULPD(r, e, e)
	VADDPD(one, e, e)
	VMULPD(entry(0, t), e, e)
	VPSRLQ(U8(4), t, t)
	VPSLLQ(U8(52), t, t)
	VPSUBQ(t, oneBits, t)
	VMULPD(t, e, e)
	VADDPD(one, e, u)
	VDIVPD(u, e, u)
	VSUBPD(u, one, t)
	VMULPD(t, u, v)
	VMOVUPD(v, Mem{Base: curvature})
	VMOVAPD(t, positive, u)
	VMOVUPD(u, Mem{Base: slope})
	VMULPD(width, e, t)
	VMINPD(t, last, t)
	VADDPD(shift, t, t)
	VSUBPD(shift, t, u)
	VMULPD(part, u, u)
	VSUBPD(u, e, r)
	VMULPD(entry(1, t), r, r)
	l := series("log1pSeries", r, 1./9, -1./8, 1./7, -1./6, 1./5, -1./4, 1./3, -1./2)
	VMULPD(r, l, l)
	VMULPD(r, l, l)
	VADDPD(r, l, l)
	VADDPD(entry(2, t), l, l)
	VADDPD(given, l, positive, l)
	VMOVUPD(l, Mem{Base: value})
	for _, p := range []Register{x, value, slope, curvature} {
		ADDQ(Imm(64), p)
	}
	SUBQ(Imm(8), n)
	JNZ(LabelRef("nextLogistic"))
	VZEROUPPER()
	RET()
}
