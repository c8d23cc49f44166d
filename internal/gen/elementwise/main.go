// Command elementwise writes the AVX-512 instructions of package elementwise, with avo.
package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "gen/asm"
)

func main() {
	ConstraintExpr("amd64,!purego,!plainelementwise")
	sigmoid()
	reluVJP()
	adam()
	Generate()
}

// loop goes through n numbers, so many at a time, with pointers to where they are.
func loop(n Register, step int, body func(), pointers ...Register) {
	Label("next")
	body()
	for _, p := range pointers {
		ADDQ(Imm(uint64(4*step)), p)
	}
	SUBQ(Imm(uint64(step)), n)
	JNZ(LabelRef("next"))
	VZEROUPPER()
	RET()
}

// Constants of the exponential function, as in exp.go.
const (
	expSteps   = 32
	stepsPerX  = expSteps / math.Ln2
	roundShift = 0x1.8p52
	lnStep     = math.Ln2 / expSteps
	expC1      = lnStep
	expC2      = lnStep * lnStep / 2
	expC3      = lnStep * lnStep * lnStep / 6
	expC4      = lnStep * lnStep * lnStep * lnStep / 24
)

const (
	greater   = 0x1e
	less      = 0x11
	unordered = 3
)

func sigmoid() {
	Text("sigmoidAVX512", "(x *float32, n int, table *uint64)", "is Sigmoid for n numbers, a multiple of 8 and 8 at least.")
	x, n, table := Word("x"), Word("n"), Word("table")
	steps, shift, sign, low := Floats64("steps", stepsPerX), Floats64("shift", roundShift), Bits64("sign", 1<<63), Bits64("low", expSteps-1)
	c1, c2, c3, c4 := Floats64("c1", expC1), Floats64("c2", expC2), Floats64("c3", expC3), Floats64("c4", expC4)
	one, most, least := Floats64("one", 1), Floats64("most", 200), Floats64("least", -200)
	loop(n, 8, func() {
		v, z, r, s, p, k, where := ZMM(), ZMM(), ZMM(), ZMM(), ZMM(), ZMM(), K()
		VCVTPS2PD(Mem{Base: x}, v)
		VPXORQ(sign, v, v)
		VMULPD(steps, v, z)
		VADDPD(shift, z, k)
		VSUBPD(shift, k, r)
		VSUBPD(r, z, r)
		VPANDQ(low, k, p)
		KXNORW(where, where, where)
		VPXORQ(s, s, s)
		VPGATHERQQ(Mem{Base: table, Index: p, Scale: 8}, where, s)
		VPSLLQ(U8(47), k, k)
		VPADDQ(k, s, s)
		VMULPD(c4, r, p)
		for _, c := range []VecVirtual{c3, c2, c1} {
			VADDPD(c, p, p)
			VMULPD(r, p, p)
		}
		VMULPD(s, p, p)
		VADDPD(one, s, s)
		VADDPD(p, s, s)
		VDIVPD(s, one, s)
		VCMPPD(U8(greater), most, v, where)
		VXORPD(p.AsX(), p.AsX(), p.AsX())
		VMOVAPD(p, where, s)
		VCMPPD(U8(less), least, v, where)
		VMOVAPD(one, where, s)
		y := YMM()
		VCVTPD2PS(s, y)
		VMOVUPS(y, Mem{Base: x})
	}, x)
}

func reluVJP() {
	Text("reluVJPAVX512", "(y, dy, dz *float32, n int, factor float32)", "is ReLUVJP for n numbers, a multiple of 16 and 16 at least.")
	y, dy, dz, n := Word("y"), Word("dy"), Word("dz"), Word("n")
	factor, zero := All32(Address("factor")), ZMM()
	VPXORQ(zero, zero, zero)
	loop(n, 16, func() {
		a, b, positive, isNaN := ZMM(), ZMM(), K(), K()
		VMOVUPS(Mem{Base: y}, a)
		VCMPPS(U8(greater), zero, a, positive)
		VCMPPS(U8(unordered), a, a, isNaN)
		VMOVUPS_Z(Mem{Base: dy}, positive, b)
		VMOVAPS(a, isNaN, b)
		VMULPS(factor, b, b)
		VMOVUPS(b, Mem{Base: dz})
	}, y, dy, dz)
}

func adam() {
	Text("adamAVX512", "(w, gradient, mean, squares *float32, n int, rate, unbias float64)", "is Adam for n numbers, a multiple of 8 and 8 at least.")
	w, g, mean, squares, n := Word("w"), Word("gradient"), Word("mean"), Word("squares"), Word("n")
	rate, unbias, epsilon := All64(Address("rate")), All64(Address("unbias")), Floats64("epsilon", 1e-8)
	single := func(name string, v float32) Register { return Floats32(name, v).AsY() }
	keep1, take1 := single("keep1", 0.9), single("take1", 1-0.9)
	keep2, take2 := single("keep2", 0.999), single("take2", 1-0.999)
	size, normal := ZMM(), single("normal", 0x1p-126)
	VPBROADCASTD(ConstData("size", U32(1<<31-1)), size)
	flush := func(v Register) {
		t, small := ZMM(), K()
		VPANDD(size.AsY(), v, t.AsY())
		VCMPPS(U8(less), normal, t.AsY(), small)
		VPXORD(t.AsY(), t.AsY(), t.AsY())
		VMOVAPS(t.AsY(), small, v)
	}
	loop(n, 8, func() {
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
	}, w, g, mean, squares)
}
