// Command rows writes the AVX-512 instructions of transforms/internal/columns, with avo.
package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "gen/asm"
)

func main() {
	ConstraintExpr("amd64,!purego")
	logStandardRow()
	columnLimits()
	minMaxRow()
	quantileRow()
	rowsToPanel()
	panelToRows()
	lookupColumn()
	rankColumn()
	binPositions()
	Generate()
}

func zero() VecVirtual { r := ZMM(); VPXORQ(r, r, r); return r }

func copyOf(k Register) Register { c := K(); KMOVW(k, c); return c }

// Predicates of comparisons.
const (
	less    = 1
	most    = 2 // less or equal
	absent  = 3 // one is NaN
	ordered = 7 // neither is NaN
	greater = 14
)

// limits are the finite numbers that are farthest from 0.
type limits struct{ largest, least VecVirtual }

func newLimits() limits { return limits{Bits32("largest", 0x7f7fffff), Bits32("least", 0xff7fffff)} }

// finite makes infinite numbers finite. NaN stays.
func (l limits) finite(x Register) {
	VMINPS(x, l.largest, x)
	VMAXPS(x, l.least, x)
}

// lanes runs body until n numbers are done, so many at a time: those left, in the end, have a
// bit each in the mask.
func lanes(n Register, most int, body func(mask Register)) {
	all, width := GP32(), GP64()
	MOVL(U32(1<<most-1), all)
	MOVQ(U32(most), width)
	Label("next")
	count, ones, mask := GP64(), GP32(), K()
	MOVQ(n, count)
	CMPQ(count, width)
	CMOVQGT(width, count)
	BZHIL(count.As32(), all, ones)
	KMOVW(ones, mask)
	body(mask)
	SUBQ(width, n)
	JG(LabelRef("next"))
	VZEROUPPER()
	RET()
}

// advance moves pointers on.
func advance(bytes int, pointers ...Register) {
	for _, p := range pointers {
		ADDQ(U32(bytes), p)
	}
}

// values are eight columns of a row, of which the mask has those that there are: the finite
// values, and which of them are not missing.
func (l limits) values(row, columns, mask Register) (x VecVirtual, there Register) {
	where, x, there := ZMM(), zero(), K()
	VMOVDQU64_Z(Mem{Base: columns}, mask, where)
	VGATHERQPS(Mem{Base: row, Index: where, Scale: 4}, copyOf(mask), x.AsY())
	l.finite(x)
	VCMPPS(U8(ordered), x, x, there)
	return x, there
}

// minus gives (x − from)·scale of eight numbers.
func minus(x VecVirtual, from, scale, mask Register) {
	a, b := ZMM(), ZMM()
	VMOVUPD_Z(Mem{Base: from}, mask, a)
	VMOVUPD_Z(Mem{Base: scale}, mask, b)
	VSUBPD(a, x, x)
	VMULPD(b, x, x)
}

// store writes eight numbers, as 0 those that are not there.
func store(x VecVirtual, dst, mask, there Register) {
	VCVTPD2PS(x, x.AsY())
	VMOVAPS_Z(x, there, x)
	VMOVUPS(x, mask, Mem{Base: dst})
}

func logStandardRow() {
	Text("logStandardRow", "(dst, row *float32, columns *int, shift, scale *float64, n int, table *float64)",
		"is LogStandard for the n columns of a row: the same bits.")
	dst, row, columns, shift, scale, n, table := Word("dst"), Word("row"), Word("columns"), Word("shift"), Word("scale"), Word("n"), Word("table")
	l := newLimits()
	one, half, third, quarter, fifth := Floats64("one", 1), Floats64("half", 1./2), Floats64("third", 1./3), Floats64("quarter", 1./4), Floats64("fifth", 1./5)
	ln2, sign, mantissa := Bits64("ln2", 0x3fe62e42fefa39ef), Bits64("sign", 1<<63), Bits64("mantissa", 1<<52-1)
	shifter, shifted := Floats64("shifter", 1<<52), Floats64("shifted", 1<<52+1023)
	low7, most, least := Bits64("low7", 1<<7-1), Floats64("ten", 10), Floats64("minusTen", -10)
	size, unit, tiny := Bits32("size", 1<<31-1), Bits32("unit", 1), Bits32("tiny", 0x322bcc76) // bits of 1e-8, less 1
	lanes(n, 8, func(mask Register) {
		x, there := l.values(row, columns, mask)
		// Those above 0 and below 1e-8 stay as they are.
		t, stays := ZMM(), K()
		VPANDD(size, x, t)
		VPSUBD(unit, t, t)
		VPCMPUD(U8(less), tiny, t, stays)
		VCVTPS2PD(x.AsY(), x)
		u := ZMM() // 1 + |x|
		VPANDNQ(x, sign, u)
		VADDPD(u, one, u)
		entry, inverse, log := ZMM(), zero(), zero() // of the table: 1/c and log c
		VPSRLQ(U8(45), u, entry)
		VPANDQ(low7, entry, entry)
		VPADDQ(entry, entry, entry) // entries have two numbers
		VGATHERQPD(Mem{Base: table, Index: entry, Scale: 8}, copyOf(mask), inverse)
		VGATHERQPD(Mem{Base: table, Disp: 8, Index: entry, Scale: 8}, copyOf(mask), log)
		r := ZMM() // m/c − 1, of the mantissa m
		VPANDQ(mantissa, u, r)
		VPORQ(one, r, r)
		VMULPD(inverse, r, r)
		VSUBPD(one, r, r)
		square, a, b := ZMM(), ZMM(), ZMM()
		VMULPD(r, r, square)
		VMULPD(third, r, a)
		VSUBPD(a, half, a) // 1/2 − r/3
		VMULPD(a, square, a)
		VMULPD(fifth, r, b)
		VSUBPD(b, quarter, b) // 1/4 − r/5
		VMULPD(square, square, square)
		VMULPD(b, square, b)
		VSUBPD(a, r, r)
		VSUBPD(b, r, r)
		VPSRLQ(U8(52), u, u)
		VPORQ(shifter, u, u)
		VSUBPD(shifted, u, u) // the exponent
		VMULPD(ln2, u, u)
		VADDPD(u, log, log)
		VADDPD(log, r, r)
		VPANDQ(sign, x, t)
		VPORQ(t, r, r)
		VMOVAPD(x, stays, r)
		minus(r, shift, scale, mask)
		number := K()
		VCMPPD(U8(ordered), r, r, number)
		KANDW(there, number, there)
		VMINPD(r, most, r)
		VMAXPD(r, least, r)
		store(r, dst, mask, there)
		advance(4*8, dst)
		advance(8*8, columns, shift, scale)
	})
}

func columnLimits() {
	Text("columnLimits", "(low, high, rows *float32, inputs, n, columns int)",
		"sets the least and the greatest number of each of a number of columns of the n",
		"rows, in which missing values count for nothing and infinite ones as the largest.")
	low, high, rows, inputs, n, columns := Word("low"), Word("high"), Word("rows"), Word("inputs"), Word("n"), Word("columns")
	SHLQ(U8(2), inputs)
	l := newLimits()
	lanes(columns, 16, func(mask Register) {
		from, to, row, k := ZMM(), ZMM(), GP64(), GP64()
		VMOVAPS(l.largest, from)
		VMOVAPS(l.least, to)
		MOVQ(rows, row)
		MOVQ(n, k)
		Label("row")
		x := ZMM()
		VMOVUPS_Z(Mem{Base: row}, mask, x)
		l.finite(x)
		VMINPS(from, x, from) // NaN counts for nothing
		VMAXPS(to, x, to)
		ADDQ(inputs, row)
		DECQ(k)
		JNZ(LabelRef("row"))
		VMOVUPS(from, mask, Mem{Base: low})
		VMOVUPS(to, mask, Mem{Base: high})
		advance(4*16, low, high, rows)
	})
}

func minMaxRow() {
	Text("minMaxRow", "(dst, row *float32, columns *int, low, scale *float64, n int)",
		"sets (x − low)·scale, 1 at most, for the n columns of a row, and 0 if x is",
		"missing.")
	dst, row, columns, low, scale, n := Word("dst"), Word("row"), Word("columns"), Word("low"), Word("scale"), Word("n")
	l, one := newLimits(), Floats64("one", 1)
	lanes(n, 8, func(mask Register) {
		x, there := l.values(row, columns, mask)
		VCVTPS2PD(x.AsY(), x)
		minus(x, low, scale, mask)
		VMINPD(one, x, x)
		store(x, dst, mask, there)
		advance(4*8, dst)
		advance(8*8, columns, low, scale)
	})
}

// A search finds the knots of sixteen values at a time, and their scores.
type search struct {
	limits
	top, byte           VecVirtual
	start, knots, score Register
	steps               Register
}

func newSearch() search {
	return search{newLimits(), Bits32("top", 1<<31), Bits32("byte", 1<<8-1), Word("start"), Word("knots"), Word("scores"), Word("step")}
}

// numbers are 0 to 15.
func numbers() VecVirtual {
	var values []Constant
	for i := range 16 {
		values = append(values, U32(i))
	}
	r := ZMM()
	VMOVDQU32(Stored("numbers", values...), r)
	return r
}

// scores replaces the values of x that the mask has by their scores. The table of a value
// begins at s.start and as many bytes as start says, its knots at s.knots and as many as first
// says.
func (s search) scores(x VecVirtual, start, first, mask Register) {
	there := K()
	s.finite(x)
	VCMPPS(U8(ordered), x, x, there)
	key, cell, knot := ZMM(), ZMM(), zero()
	VMOVAPS_Z(x, there, x)
	VADDPS(zero(), x, x) // no −0
	VPSRAD(U8(31), x, key)
	VPORD(s.top, key, key)
	VPXORD(key, x, key)
	VPSRLD(U8(19), key, cell)
	VPADDD(start, cell, cell)
	VPGATHERDD(Mem{Base: s.start, Index: cell, Scale: 1}, copyOf(mask), knot)
	VPANDD(s.byte, knot, knot)
	VPADDD(first, knot, knot)

	// It goes up where the knot there is not above the value, by half as many each time.
	step := GP64()
	MOVQ(s.steps, step)
	Label("search")
	up, value, goes := ZMM(), zero(), K()
	VPBROADCASTD(step.As32(), up)
	VPADDD(up, knot, up)
	VGATHERDPS(Mem{Base: s.knots, Index: up, Scale: 4}, copyOf(mask), value)
	VCMPPS(U8(most), x, value, mask, goes)
	VMOVDQA32(up, goes, knot)
	SHRQ(U8(1), step)
	JNZ(LabelRef("search"))

	upper, upperKnot, upperMask := ZMM(), ZMM(), K()
	VEXTRACTF64X4(U8(1), x, upper.AsY())
	VEXTRACTI64X4(U8(1), knot, upperKnot.AsY())
	KSHIFTRW(U8(8), mask, upperMask)
	s.half(x, knot.AsY(), mask)
	s.half(upper, upperKnot.AsY(), upperMask)
	VINSERTF64X4(U8(1), upper.AsY(), x, x)
	VMOVAPS_Z(x, there, x)
}

// half computes eight of the sixteen scores, of the values in the lower half of x, and
// leaves them there. A knot and the next are loaded together, and so are their scores.
func (s search) half(x VecVirtual, knot, mask Register) {
	pair, scores, from, to, first, second := zero(), zero(), ZMM(), ZMM(), ZMM(), ZMM()
	VGATHERDPD(Mem{Base: s.knots, Index: knot, Scale: 4}, copyOf(mask), pair)
	VGATHERDPD(Mem{Base: s.score, Index: knot, Scale: 4}, copyOf(mask), scores)
	VPMOVQD(pair, from.AsY())
	VPSRLQ(U8(32), pair, pair)
	VPMOVQD(pair, to.AsY())
	VCVTPS2PD(from.AsY(), from)
	VCVTPS2PD(to.AsY(), to)
	VCVTPS2PD(x.AsY(), x)
	VSUBPD(from, x, x)
	VSUBPD(from, to, to)
	VDIVPD(to, x, x)
	VCVTPD2PS(x, x.AsY())
	VPMOVQD(scores, first.AsY())
	VPSRLQ(U8(32), scores, scores)
	VPMOVQD(scores, second.AsY())
	VSUBPS(first.AsY(), second.AsY(), second.AsY())
	VMULPS(second.AsY(), x.AsY(), x.AsY())
	VADDPS(x.AsY(), first.AsY(), x.AsY())
}

func quantileRow() {
	Text("quantileRow", "(dst, row *float32, columns *int, n int, start *uint8, knots, scores *float32, first *int32, step int)",
		"is Lookups.column for the n columns of a row: the same bits.")
	dst, row, columns, n, first, s := Word("dst"), Word("row"), Word("columns"), Word("n"), Word("first"), newSearch()
	const bytes = 8192 // of a table
	table := numbers()
	VPSLLD(U8(13), table, table)
	lanes(n, 16, func(mask Register) {
		upperMask, where, upperWhere, x, upper, knots := K(), ZMM(), ZMM(), zero(), zero(), ZMM()
		KSHIFTRW(U8(8), mask, upperMask)
		VMOVDQU64_Z(Mem{Base: columns}, mask, where)
		VMOVDQU64_Z(Mem{Base: columns, Disp: 8 * 8}, upperMask, upperWhere)
		VGATHERQPS(Mem{Base: row, Index: where, Scale: 4}, copyOf(mask), x.AsY())
		VGATHERQPS(Mem{Base: row, Index: upperWhere, Scale: 4}, copyOf(upperMask), upper.AsY())
		VINSERTF64X4(U8(1), upper.AsY(), x, x)
		VMOVDQU32_Z(Mem{Base: first}, mask, knots)
		s.scores(x, table, knots, mask)
		VMOVUPS(x, mask, Mem{Base: dst})
		advance(16*bytes, s.start)
		advance(4*16, dst, first)
		advance(8*16, columns)
	})
}

func binPositions() {
	Text("binPositions", "(rows int, x *float32, stride, mask, knots int, table *float32)",
		"is Positions.Map for the columns of a group in all rows: the same bits.")
	rows, x, stride, table := Word("rows"), Word("x"), Word("stride"), Word("table")
	const row = 4 * 16 // bytes
	mask, one, rounding := K(), Floats32("one32", 1), Floats32("rounding", 128)
	KMOVW(Word("mask").(GPVirtual).As32(), mask)
	SHLQ(U8(2), stride)
	Label("document")
	v, passed, low, high, missing := ZMM(), ZMM(), ZMM(), ZMM(), K()
	VMOVUPS_Z(Mem{Base: x}, mask, v)
	VCMPPS(U8(absent), v, v, missing)
	VMOVUPS(Mem{Base: table}, passed)
	VMOVUPS(Mem{Base: table, Disp: 3 * row}, low)
	VMAXPS(v, low, v)
	VMINPS(Mem{Base: table, Disp: 2 * row}, v, v)
	knot, next, n := ZMM(), GP64(), Word("knots")
	LEAQ(Mem{Base: table, Disp: 4 * row}, next)
	VMOVUPS(Mem{Base: next}, knot)
	VMOVAPS(knot, high)
	Label("knot")
	DECQ(n)
	JZ(LabelRef("passed"))
	goes := K()
	VCMPPS(U8(most), v, knot, goes)
	VMOVAPS(knot, goes, low)
	VADDPS(one, passed, goes, passed)
	ADDQ(U8(row), next)
	VMOVUPS(Mem{Base: next}, knot)
	VMOVAPS(knot, goes, high)
	JMP(LabelRef("knot"))
	Label("passed")
	var upper [3]VecVirtual
	for i, of := range []VecVirtual{v, low, high} {
		upper[i] = ZMM()
		VEXTRACTF64X4(U8(1), of, upper[i].AsY())
	}
	share(v, low, high)
	share(upper[0], upper[1], upper[2])
	VINSERTF64X4(U8(1), upper[0].AsY(), v, v)
	VADDPS(v, passed, v)
	VADDPS(rounding, v, v)
	VSUBPS(rounding, v, v)
	VMOVUPS(Mem{Base: table, Disp: row}, missing, v)
	VMOVUPS(v, mask, Mem{Base: x})
	ADDQ(stride, x)
	DECQ(rows)
	JNZ(LabelRef("document"))
	VZEROUPPER()
	RET()
}

// share sets the eight numbers in the lower half of v to (v − low) / (high − low).
func share(v, low, high VecVirtual) {
	for _, r := range []VecVirtual{v, low, high} {
		VCVTPS2PD(r.AsY(), r)
	}
	VSUBPD(low, v, v)
	VSUBPD(low, high, high)
	VDIVPD(high, v, v)
	VCVTPD2PS(v, v.AsY())
}

// panelRow is the distance of the rows of a panel, in bytes.
const panelRow = 4 * 256

// transposed are the columns of sixteen registers.
func transposed(rows [16]VecVirtual) (columns [16]VecVirtual) {
	pair := func(f func(b, a, to Op), a, b VecVirtual) VecVirtual { to := ZMM(); f(b, a, to); return to }
	var quads [4][4]VecVirtual // of four rows: their numbers in columns c, c+4, c+8, c+12
	for q := range quads {
		r := rows[4*q:]
		low, high := pair(func(b, a, to Op) { VUNPCKLPS(b, a, to) }, r[0], r[1]), pair(func(b, a, to Op) { VUNPCKHPS(b, a, to) }, r[0], r[1])
		low2, high2 := pair(func(b, a, to Op) { VUNPCKLPS(b, a, to) }, r[2], r[3]), pair(func(b, a, to Op) { VUNPCKHPS(b, a, to) }, r[2], r[3])
		for i, of := range [][2]VecVirtual{{low, low2}, {high, high2}} {
			quads[q][2*i] = pair(func(b, a, to Op) { VUNPCKLPD(b, a, to) }, of[0], of[1])
			quads[q][2*i+1] = pair(func(b, a, to Op) { VUNPCKHPD(b, a, to) }, of[0], of[1])
		}
	}
	const even, odd = 0x88, 0xdd // quarters 0 and 2, or 1 and 3, of each register
	quarters := func(which uint64, a, b VecVirtual) VecVirtual {
		return pair(func(b, a, to Op) { VSHUFF32X4(U8(which), b, a, to) }, a, b)
	}
	for c := range 4 {
		for i, which := range []uint64{even, odd} {
			first, last := quarters(which, quads[0][c], quads[1][c]), quarters(which, quads[2][c], quads[3][c])
			columns[4*i+c], columns[4*i+c+8] = quarters(even, first, last), quarters(odd, first, last)
		}
	}
	return columns
}

// sixteen runs body for n rows, sixteen at a time: mask(i) is the bits for row i of them, and none behind the last row.
func sixteen(n, bits Register, body func(mask func(i int) Register)) {
	none := GP32()
	XORL(none, none)
	Label("next")
	body(func(i int) Register {
		here, k := GP32(), K()
		MOVL(bits.(GPVirtual).As32(), here)
		CMPQ(n, U32(i))
		CMOVLLE(none, here)
		KMOVW(here, k)
		return k
	})
	SUBQ(U32(16), n)
	JG(LabelRef("next"))
	VZEROUPPER()
	RET()
}

func rowsToPanel() {
	Text("rowsToPanel", "(n int, rows *float32, inputs, used int, panel *float32)",
		"copies the used ones of sixteen columns of n rows to the rows of a panel, with infinite numbers as the",
		"largest, and NaN behind the last.")
	n, rows, inputs, used, panel := Word("n"), Word("rows"), Word("inputs"), Word("used"), Word("panel")
	SHLQ(U8(2), inputs)
	l, missing := newLimits(), Bits32("nan", 0x7fc00000)
	sixteen(n, used, func(mask func(i int) Register) {
		var x [16]VecVirtual
		for i := range x {
			x[i] = ZMM()
			VMOVAPS(missing, x[i])
			VMOVUPS(Mem{Base: rows}, mask(i), x[i])
			l.finite(x[i])
			ADDQ(inputs, rows)
		}
		for i, c := range transposed(x) {
			VMOVUPS(c, Mem{Base: panel, Disp: i * panelRow})
		}
		advance(4*16, panel)
	})
}

func panelToRows() {
	Text("panelToRows", "(n int, rows *float32, stride, used, packed int, panel *float32)",
		"copies the used rows of a panel to as many neighbouring columns of n rows: packed has as many bits.")
	n, rows, stride, packed, panel := Word("n"), Word("rows"), Word("stride"), Word("packed"), Word("panel")
	used := K()
	KMOVW(Word("used").(GPVirtual).As32(), used)
	SHLQ(U8(2), stride)
	sixteen(n, packed, func(mask func(i int) Register) {
		var x [16]VecVirtual
		for i := range x {
			x[i] = ZMM()
			VMOVUPS(Mem{Base: panel, Disp: i * panelRow}, x[i])
		}
		for i, r := range transposed(x) {
			VCOMPRESSPS(r, used, r)
			VMOVUPS(r, mask(i), Mem{Base: rows})
			ADDQ(stride, rows)
		}
		advance(4*16, panel)
	})
}

// among gives the numbers at an index, of those in so many registers of memory: it has as many bits as these need.
func among(from Mem, registers int, index VecVirtual) VecVirtual {
	if registers == 1 {
		x := ZMM()
		VPERMPS(from, index, x)
		return x
	}
	// Those of every two registers by the lower bits, then the right ones of these.
	parts := make([]VecVirtual, registers/2)
	for i := range parts {
		low := ZMM()
		parts[i] = ZMM()
		VMOVDQA32(index, parts[i])
		VMOVUPS(from.Offset(128*i), low)
		VPERMI2PS(from.Offset(128*i+64), low, parts[i])
	}
	for bit := uint32(32); len(parts) > 1; bit *= 2 {
		upper := K()
		VPTESTMD_BCST(Stored(fmt.Sprint("bit", bit), U32(bit)), index, upper)
		for i := range len(parts) / 2 {
			parts[i] = parts[2*i]
			VMOVAPS(parts[2*i+1], upper, parts[i])
		}
		parts = parts[:len(parts)/2]
	}
	return parts[0]
}

func lookupColumn() {
	Text("lookupColumn", "(n int, x, table *float32)",
		"replaces n finite numbers or NaN by their scores, and others up to the end of a register: the bits of Lookups.column.")
	n, x, base := Word("n"), Word("x"), Word("table")
	const register = 64 // bytes
	at := func(r int) Mem { return Mem{Base: base, Disp: r * register} }
	first, last, top, one := All32(at(0)), All32(at(0).Offset(4)), All32(at(0).Offset(8)), Bits32("unit", 1)
	Label("next")
	v, low, high, node := ZMM(), ZMM(), ZMM(), ZMM()
	there, above := K(), K()
	VMOVUPS(Mem{Base: x}, v)
	VCMPPS(U8(ordered), v, v, there)
	VMAXPS(first, v, v)
	VCMPPS(U8(most), v, last, above) // last ≤ v
	VMOVAPS(first, low)
	VMOVAPS(last, high)
	VMOVDQA32(one, node)
	for depth := range 7 {
		// Nodes 1 to 15 are in the first register, and those of each depth behind in one, two and four.
		registers := max(1, 1<<depth/16)
		from := at(1)
		if depth > 3 {
			from = at(1 + registers)
		}
		knot := among(from, registers, node)
		right, left := K(), K()
		VCMPPS(U8(most), v, knot, right)
		KNOTW(right, left)
		VMOVAPS(knot, right, low)
		VMOVAPS(knot, left, high)
		VPADDD(node, node, node)
		VPADDD(one, node, right, node)
	}
	begin, more := among(at(9), 8, node), among(at(17), 8, node)
	var upper [3]VecVirtual
	for i, of := range []VecVirtual{v, low, high} {
		upper[i] = ZMM()
		VEXTRACTF64X4(U8(1), of, upper[i].AsY())
	}
	share(v, low, high)
	share(upper[0], upper[1], upper[2])
	VINSERTF64X4(U8(1), upper[0].AsY(), v, v)
	VMULPS(more, v, v)
	VADDPS(v, begin, v)
	VMOVAPS(top, above, v)
	VMOVAPS_Z(v, there, v)
	VMOVUPS(v, Mem{Base: x})
	advance(register, x)
	SUBQ(U32(16), n)
	JG(LabelRef("next"))
	VZEROUPPER()
	RET()
}

func rankColumn() {
	Text("rankColumn", "(ranks, x *float32, n int)",
		"sets rankOf each of n finite numbers or NaN. There may be more up to the end of a register.")
	ranks, x, n := Word("ranks"), Word("x"), Word("n")
	one, root := Bits32("unit", 1), Floats64("root3", math.Sqrt(3))
	present, at, left := GP32(), GP64(), GP64()
	XORL(present, present)
	each := func(label string, body func()) {
		MOVQ(x, at)
		MOVQ(n, left)
		Label(label)
		body()
		advance(4*16, at)
		SUBQ(U32(16), left)
		JG(LabelRef(label))
	}
	there, count, all := K(), GP32(), ZMM()
	each("count", func() {
		v := ZMM()
		VMOVUPS(Mem{Base: at}, v)
		VCMPPS(U8(ordered), v, v, there)
		KMOVW(there, count)
		POPCNTL(count, count)
		ADDL(count, present)
	})
	VPBROADCASTD(present, all)
	VCVTDQ2PD(all.AsY(), all)
	each("rank", func() {
		v, lower, higher, other, k := ZMM(), zero(), zero(), GP64(), GP64()
		VMOVUPS(Mem{Base: at}, v)
		MOVQ(x, other)
		MOVQ(n, k)
		Label("other")
		for i := range 4 {
			b, above, below := ZMM(), K(), K()
			VBROADCASTSS(Mem{Base: other, Disp: 4 * i}, b)
			VCMPPS(U8(less), v, b, below)
			VCMPPS(U8(greater), v, b, above)
			VPADDD(one, lower, below, lower)
			VPADDD(one, higher, above, higher)
		}
		advance(4*4, other)
		SUBQ(U32(4), k)
		JG(LabelRef("other"))
		VPSUBD(higher, lower, lower)
		upper := ZMM()
		VEXTRACTI64X4(U8(1), lower, upper.AsY())
		for _, half := range []VecVirtual{lower, upper} {
			VCVTDQ2PD(half.AsY(), half)
			VMULPD(root, half, half)
			VDIVPD(all, half, half)
			VCVTPD2PS(half, half.AsY())
		}
		VINSERTF64X4(U8(1), upper.AsY(), lower, lower)
		VCMPPS(U8(ordered), v, v, there)
		VMOVAPS_Z(lower, there, lower)
		VMOVUPS(lower, Mem{Base: ranks})
		advance(4*16, ranks)
	})
	VZEROUPPER()
	RET()
}
