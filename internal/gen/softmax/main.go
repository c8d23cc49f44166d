// Command softmax writes the AVX2 instructions of package elementwise for the softmax, with avo.
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
	Generate()
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
