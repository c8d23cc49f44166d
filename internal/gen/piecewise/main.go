// Command piecewise writes the kernels of package piecewise: with avo for AVX-512 and AVX2, as
// text for NEON, of which avo knows nothing.
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
	for _, m := range []machine{{"AVX512", 64, 8, ZMM}, {"AVX2", 32, 7, YMM}} {
		m.split()
		m.forward()
		m.backward()
	}
	Generate()
	writeNEON("../piecewise/kernels_arm64.s")
}

// vectors are the units of a block, in registers.
const vectors = 4

type machine struct {
	name  string
	bytes int    // of a register
	shift uint64 // of the number of a row of a block, to its first byte
	new   func() VecVirtual
}

// registers are those of a block.
func (m machine) registers() (list [vectors]VecVirtual) {
	for v := range list {
		list[v] = m.new()
	}
	return list
}

// load and store are those of the units at an address, which add to what is there.
func (m machine) load(from Mem, to [vectors]VecVirtual) {
	for v, r := range to {
		VMOVUPS(from.Offset(v*m.bytes), r)
	}
}

func (m machine) store(from [vectors]VecVirtual, to Mem) {
	for v, r := range from {
		VMOVUPS(r, to.Offset(v*m.bytes))
	}
}

// and keeps the bits of r that the mask has.
func (m machine) and(mask, r Op) {
	if m.bytes == 64 {
		VPANDD(mask, r, r)
	} else {
		VPAND(mask, r, r)
	}
}

func (m machine) split() {
	Text("split"+m.name, "(n int, part, bins *float32, first, at *uint32)",
		fmt.Sprintf("is split for n numbers, a multiple of %d and %[1]d at least.", m.bytes/4))
	n := Word("n")
	pointers := []Register{Word("part"), Word("bins"), Word("first"), Word("at")}
	at := func(i int) Mem { return Mem{Base: pointers[i]} }
	zero, steps, one, step := m.new(), m.new(), m.new(), m.new()
	VXORPS(zero.AsX(), zero.AsX(), zero.AsX())
	VBROADCASTSS(Stored("steps", F32(1<<16)), steps)
	VBROADCASTSS(Stored("step", F32(1./(1<<16))), step)
	VPBROADCASTD(Stored("one", U32(1)), one)
	Label("next")
	p, most, bin, fixed := m.new(), m.new(), m.new(), m.new()
	VMOVUPS(at(1), most)
	VMOVUPS(at(0), p)
	VMAXPS(p, zero, p) // NaN stays
	VMINPS(p, most, p)
	VMULPS(steps, p, fixed)
	VCVTPS2DQ(fixed, fixed)
	VCVTPS2DQ(most, most)
	VPSUBD(one, most, most)
	VPSRLD(Imm(16), fixed, bin)
	VPMINUD(most, bin, bin)
	VPSLLD(Imm(16), bin, most)
	VPSUBD(most, fixed, fixed)
	VCVTDQ2PS(fixed, fixed)
	VMULPS(step, fixed, fixed)
	VSUBPS(p, p, p)
	VADDPS(p, fixed, fixed) // NaN where p is
	VMOVUPS(fixed, at(0))
	VPADDD(at(2), bin, bin)
	VMOVUPS(bin, at(3))
	for _, p := range pointers {
		ADDQ(Imm(uint64(m.bytes)), p)
	}
	SUBQ(Imm(uint64(m.bytes/4)), n)
	JNZ(LabelRef("next"))
	VZEROUPPER()
	RET()
}

func (m machine) forward() {
	Text(
		"forward"+m.name,
		"(rows, features int, at *uint32, part *float32, stride int, table, from *float32, fromRow int, to *float32, toRow int, floor float32)",
		"is forward for one or more rows and features. Distances of rows are in bytes.",
	)
	end := Flush()
	rows, table := Word("rows"), Word("table")
	at, part, from, to := Word("at"), Word("part"), Word("from"), Word("to")
	n, stride := Word("features"), Word("stride")
	one, floor := m.new(), m.new()
	VBROADCASTSS(Stored("one1", F32(1)), one)
	VBROADCASTSS(Address("floor"), floor)
	for _, together := range []int{2, 1} { // rows, so that there are always sums that wait for no other
		label := func(name string) string { return fmt.Sprint(name, together) }
		Label(label("rows"))
		CMPQ(rows, Imm(uint64(together)))
		JL(LabelRef(label("end")))
		var all []rowSums
		for range together {
			r := rowSums{GP64(), GP64(), m.registers()}
			MOVQ(at, r.at)
			MOVQ(part, r.part)
			m.load(Mem{Base: from}, r.sums)
			ADDQ(stride, at)
			ADDQ(stride, part)
			ADDQ(Address("fromRow"), from)
			all = append(all, r)
		}
		f := GP64()
		XORQ(f, f)
		Label(label("feature"))
		for _, r := range all {
			m.addFeature(r, f, table, one)
		}
		INCQ(f)
		CMPQ(f, n)
		JNE(LabelRef(label("feature")))
		for _, r := range all {
			for _, sum := range r.sums {
				VMAXPS(sum, floor, sum) // NaN stays
			}
			m.store(r.sums, Mem{Base: to})
			ADDQ(Address("toRow"), to)
		}
		SUBQ(Imm(uint64(together)), rows)
		JMP(LabelRef(label("rows")))
		Label(label("end"))
	}
	end()
	VZEROUPPER()
	RET()
}

// rowSums are the units of a document, and where its positions are.
type rowSums struct {
	at, part GPVirtual
	sums     [vectors]VecVirtual
}

// addFeature adds two rows of the table.
func (m machine) addFeature(r rowSums, f, table, one Register) {
	at, part, rest := GP64(), m.new(), m.new()
	MOVL(Mem{Base: r.at, Index: f, Scale: 4}, at.As32())
	SHLQ(Imm(m.shift), at)
	ADDQ(table, at) // with an index, each of the sums below would be two instructions to the processor
	VBROADCASTSS(Mem{Base: r.part, Index: f, Scale: 4}, part)
	VSUBPS(part, one, rest)
	for row, share := range []VecVirtual{rest, part} {
		for v, sum := range r.sums {
			VFMADD231PS(Mem{Base: at, Disp: (row*vectors + v) * m.bytes}, share, sum)
		}
	}
}

func (m machine) backward() {
	Text("backward"+m.name, "(bins int, counts, entries *uint32, dz, dw *float32)",
		"is backward for one or more bins.")
	end := Flush()
	bins, counts, entries, dz, dw := Word("bins"), Word("counts"), Word("entries"), Word("dz"), Word("dw")
	row := uint64(vectors * m.bytes)
	last := GP64() // bin
	LEAQ(Mem{Base: bins, Disp: -1}, last)
	LEAQ(Mem{Base: counts, Index: last, Scale: 4}, counts)
	IMUL3Q(U32(row), last, last)
	ADDQ(last, dw)
	above, sums, mask := m.registers(), m.registers(), m.new()
	VPBROADCASTD(Stored("parts", U32(0xffffff00)), mask)
	for _, r := range above {
		VXORPS(r.AsX(), r.AsX(), r.AsX())
	}
	Label("bin")
	for v, r := range above {
		VADDPS(Mem{Base: dw, Disp: v * m.bytes}, r, sums[v])
	}
	n := GP64()
	MOVL(Mem{Base: counts}, n.As32())
	TESTQ(n, n)
	JZ(LabelRef("next"))
	Label("document")
	at, part := GP64(), m.new()
	MOVBLZX(Mem{Base: entries}, at.As32())
	SHLQ(Imm(m.shift), at)
	VPBROADCASTD(Mem{Base: entries}, part)
	m.and(mask, part)
	ADDQ(Imm(4), entries)
	units := m.registers()
	for v, u := range units {
		VMOVUPS(Mem{Base: dz, Index: at, Scale: 1, Disp: v * m.bytes}, u)
		VADDPS(u, above[v], above[v])
		VFMADD231PS(u, part, sums[v])
	}
	DECQ(n)
	JNZ(LabelRef("document"))
	Label("next")
	m.store(sums, Mem{Base: dw})
	SUBQ(Imm(4), counts)
	SUBQ(U32(row), dw)
	DECQ(bins)
	JNZ(LabelRef("bin"))
	end()
	VZEROUPPER()
	RET()
}
