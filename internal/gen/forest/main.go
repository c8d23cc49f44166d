// Command forest writes the vector instructions of package forest, with avo.
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
	accumulate(6)
	accumulate(8)
	countBelow()
	addTrees()
	addSmallTrees("VBMI", "symmetric", eachTree)
	addSmallTrees("Masked", "other", eachMaskedTree)
	lookUp()
	Generate()
}

// greater is the predicate of a comparison, of numbers that are not NaN or of unsigned integers.
const (
	greaterFloat = 30
	greaterByte  = 6
	ordered      = 7
)

// accumulate adds to 8 histograms at a time. Rows lie apart, and are fetched long before: main memory answers late.
func accumulate(shift int) {
	Text(fmt.Sprint("accumulate", 1<<shift), "(h *uint64, bins *uint8, width int, rows *uint32, n int, pairs *uint64)",
		fmt.Sprintf("is accumulate for histograms of %d bins, and n rows, at least 1.", 1<<shift))
	const columns, ahead = 8, 64
	h, bins, width, rows, n, pairs := Word("h"), Word("bins"), Word("width"), Word("rows"), Word("n"), Word("pairs")
	last := GP64() // row
	LEAQ(Mem{Base: rows, Index: n, Scale: 4, Disp: -4}, last)
	Label("row")
	next, row, pair, to, end := GP64(), GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: rows, Disp: 4 * ahead}, next)
	CMPQ(next, last)
	CMOVQHI(last, next)
	MOVL(Mem{Base: next}, next.As32())
	PREFETCHT0(Mem{Base: pairs, Index: next, Scale: 8})
	IMULQ(width, next)
	PREFETCHT0(Mem{Base: bins, Index: next, Scale: 1})
	MOVL(Mem{Base: rows}, row.As32())
	MOVQ(Mem{Base: pairs, Index: row, Scale: 8}, pair)
	IMULQ(width, row)
	ADDQ(bins, row)
	LEAQ(Mem{Base: row, Index: width, Scale: 1}, end)
	MOVQ(h, to)
	Label("columns")
	for c := range columns {
		bin := GP64()
		MOVBLZX(Mem{Base: row, Disp: c}, bin.As32())
		ADDQ(pair, Mem{Base: to, Index: bin, Scale: 8, Disp: c * 8 << shift})
	}
	ADDQ(Imm(columns), row)
	ADDQ(U32(columns*8<<shift), to)
	CMPQ(row, end)
	JNE(LabelRef("columns"))
	ADDQ(Imm(4), rows)
	CMPQ(rows, last)
	JBE(LabelRef("row"))
	RET()
}

// documents is the number of those that addTrees scores at a time.
const documents = 64

// countBelow compares 64 values with a threshold at a time.
func countBelow() {
	Text("countAVX512", "(bins *uint8, values *float32, n int, thresholds *float32, most int, first, nan uint32)",
		"is count for n values, a multiple of 64 and 64 at least, and one or more thresholds.")
	bins, values, n, thresholds, end := Word("bins"), Word("values"), Word("n"), Word("thresholds"), Word("most")
	LEAQ(Mem{Base: thresholds, Index: end, Scale: 4}, end)
	one := Bits32("one", 1)
	first, nan := All32(Address("first")), All32(Address("nan"))
	Label("next")
	var x, sums [documents / 16]VecVirtual
	for i := range x {
		x[i], sums[i] = ZMM(), ZMM()
		VMOVUPS(Mem{Base: values, Disp: i * 64}, x[i])
		isNumber := K()
		VCMPPS(Imm(ordered), x[i], x[i], isNumber)
		VMOVDQA32(nan, sums[i])
		VMOVDQA32(first, isNumber, sums[i])
	}
	t := GP64()
	MOVQ(thresholds, t)
	Label("threshold")
	at := ZMM()
	VBROADCASTSS(Mem{Base: t}, at)
	for i := range x {
		above := K()
		VCMPPS(Imm(greaterFloat), at, x[i], above)
		VPADDD(one, sums[i], above, sums[i])
	}
	ADDQ(Imm(4), t)
	CMPQ(t, end)
	JNE(LabelRef("threshold"))
	for i := range x {
		VPMOVDB(sums[i], Mem{Base: bins, Disp: i * 16})
	}
	ADDQ(U32(documents), bins)
	ADDQ(U32(4*documents), values)
	SUBQ(U32(documents), n)
	JNZ(LabelRef("next"))
	VZEROUPPER()
	RET()
}

// eachTree calls body for every tree with the numbers of the documents' leaves, a byte each, and steps over the splits.
// Pointers of the body go on by their own; leaves is 1 << depth.
func eachTree(body func(at, leaves Register)) {
	planes, splits, depths, n := Word("planes"), Word("splits"), Word("depths"), Word("n")
	one := Bits32("ones", 0x01010101)
	Label("tree")
	at, depth, leaves := ZMM(), GP64(), GP64()
	VPXORQ(at, at, at)
	MOVBLZX(Mem{Base: depths}, depth.As32())
	MOVQ(U32(1), leaves)
	Label("level")
	plane, cut, above, bytes := GP64(), ZMM(), K(), ZMM()
	MOVL(Mem{Base: splits}, plane.As32())
	VPBROADCASTD(Mem{Base: splits, Disp: 4}, cut)
	VMOVDQU64(Mem{Base: planes, Index: plane, Scale: 1}, bytes)
	VPCMPUB(Imm(greaterByte), cut, bytes, above)
	VPADDB(at, at, at)
	VPADDB(one, at, above, at)
	ADDQ(Imm(8), splits)
	ADDQ(leaves, leaves)
	DECQ(depth)
	JNZ(LabelRef("level"))
	body(at, leaves)
	INCQ(depths)
	DECQ(n)
	JNZ(LabelRef("tree"))
}

// eachMaskedTree is eachTree for trees whose nodes have, after the split, where to put the bits of those documents that
// go to the left and to the right; those of leaves come after those of nodes.
func eachMaskedTree(body func(at, leaves Register)) {
	planes, splits, counts, n := Word("planes"), Word("splits"), Word("depths"), Word("n")
	one := Bits32("ones", 0x01010101)
	local, reach := AllocLocal(8*(63+64)), GP64()
	LEAQ(local, reach)
	Label("tree")
	count, from := GP64(), GP64()
	MOVBLZX(Mem{Base: counts}, count.As32())
	MOVQ(I32(-1), local)
	MOVQ(reach, from)
	Label("node")
	plane, cut, above, bytes := GP64(), ZMM(), K(), ZMM()
	MOVL(Mem{Base: splits}, plane.As32())
	VPBROADCASTD(Mem{Base: splits, Disp: 4}, cut)
	VMOVDQU64(Mem{Base: planes, Index: plane, Scale: 1}, bytes)
	VPCMPUB(Imm(greaterByte), cut, bytes, above)
	left, right, to := GP64(), GP64(), GP64()
	KMOVQ(above, right)
	MOVQ(Mem{Base: from}, left)
	ANDQ(left, right)
	XORQ(right, left)
	MOVL(Mem{Base: splits, Disp: 8}, to.As32())
	MOVQ(left, Mem{Base: reach, Index: to, Scale: 8})
	MOVL(Mem{Base: splits, Disp: 12}, to.As32())
	MOVQ(right, Mem{Base: reach, Index: to, Scale: 8})
	ADDQ(Imm(16), splits)
	ADDQ(Imm(8), from)
	DECQ(count)
	JNZ(LabelRef("node"))
	at, leaf := ZMM(), ZMM()
	VPXORQ(at, at, at)
	VPXORQ(leaf, leaf, leaf)
	MOVBLZX(Mem{Base: counts}, count.As32())
	Label("leaf")
	ADDQ(Imm(8), from)
	VPADDB(one, leaf, leaf)
	reached := K()
	KMOVQ(Mem{Base: from}, reached)
	VMOVDQU8(leaf, reached, at)
	DECQ(count)
	JNZ(LabelRef("leaf"))
	body(at, nil)
	INCQ(counts)
	DECQ(n)
	JNZ(LabelRef("tree"))
}

// addTrees gathers the values of leaves.
func addTrees() {
	Text("addTreesAVX512", "(scores *float64, planes *uint8, splits *uint64, depths *uint8, n int, leaves *float64)",
		"is addTrees for n trees, at least 1.")
	scores, values := Word("scores"), Word("leaves")
	var sums [documents / 8]VecVirtual
	for i := range sums {
		sums[i] = ZMM()
		VMOVUPD(Mem{Base: scores, Disp: i * 64}, sums[i])
	}
	leaf, every := AllocLocal(documents), K()
	KXNORW(every, every, every)
	eachTree(func(at, leaves Register) {
		VMOVDQU64(at, leaf)
		for i, sum := range sums {
			index, value, all := YMM(), ZMM(), K()
			VPMOVZXBD(leaf.Offset(i*8), index)
			KMOVW(every, all)
			VPXORQ(value, value, value)
			VGATHERDPD(Mem{Base: values, Index: index, Scale: 8}, all, value)
			VADDPD(value, sum, sum)
		}
		LEAQ(Mem{Base: values, Index: leaves, Scale: 8}, values)
	})
	for i, sum := range sums {
		VMOVUPD(sum, Mem{Base: scores, Disp: i * 64})
	}
	VZEROUPPER()
	RET()
}

// addSmallTrees looks up each byte of the values of up to 64 leaves, and puts these together. In the end register k has
// documents 2k, 2k + 1, and those 16, 32 and 48 farther on.
func addSmallTrees(name, kind string, eachTree func(body func(at, leaves Register))) {
	Text("addTrees"+name, "(scores *float64, planes *uint8, splits *uint64, depths *uint8, n int, tables *uint8)",
		"adds n "+kind+" trees, at least 1, of at most 64 leaves, the bytes of which are in tables.")
	Attributes(0) // the stack may be more than functions without a check have
	scores, tables := Word("scores"), Word("tables")
	part := func(k, lane int) Mem { return Mem{Base: scores, Disp: (2*k + 16*lane) * 8} }
	var sums [8]VecVirtual
	for k := range sums {
		sums[k] = ZMM()
		VMOVUPD(part(k, 0), sums[k].AsX())
		for lane := 1; lane < 4; lane++ {
			VINSERTF64X2(Imm(uint64(lane)), part(k, lane), sums[k], sums[k])
		}
	}
	eachTree(func(at, leaves Register) {
		var bytes [8]VecVirtual
		for i := range bytes {
			bytes[i] = ZMM()
			VPERMB(Mem{Base: tables, Disp: i * 64}, at, bytes[i])
		}
		ADDQ(U32(8*64), tables)
		pairs := func(from []VecVirtual, low, high func(...Op)) (to []VecVirtual) {
			for i := 0; i < len(from); i += 2 {
				a, b := ZMM(), ZMM()
				low(from[i+1], from[i], a)
				high(from[i+1], from[i], b)
				to = append(to, a, b)
			}
			return to
		}
		w := pairs(bytes[:], VPUNPCKLBW, VPUNPCKHBW) // 01l 01h 23l 23h 45l 45h 67l 67h
		d := pairs(
			[]VecVirtual{w[0], w[2], w[1], w[3], w[4], w[6], w[5], w[7]},
			VPUNPCKLWD,
			VPUNPCKHWD,
		) // of bytes 0 to 3: documents 0, 4, 8, 12; then 4 to 7
		q := pairs([]VecVirtual{d[0], d[4], d[1], d[5], d[2], d[6], d[3], d[7]}, VPUNPCKLDQ, VPUNPCKHDQ)
		for k, sum := range sums {
			VADDPD(q[k], sum, sum)
		}
	})
	for k, sum := range sums {
		VMOVUPD(sum.AsX(), part(k, 0))
		for lane := 1; lane < 4; lane++ {
			VEXTRACTF64X2(Imm(uint64(lane)), sum, part(k, lane))
		}
	}
	VZEROUPPER()
	RET()
}

// lookUp has 128 bytes in two registers.
func lookUp() {
	Text("lookUpVBMI", "(bytes, codes, table *uint8)", "looks up 64 codes, at most 127, in a table of 128 bytes.")
	bytes, codes, table := Word("bytes"), Word("codes"), Word("table")
	low, at := ZMM(), ZMM()
	VMOVDQU8(Mem{Base: table}, low)
	VMOVDQU8(Mem{Base: codes}, at)
	VPERMI2B(Mem{Base: table, Disp: 64}, low, at)
	VMOVDQU8(at, Mem{Base: bytes})
	VZEROUPPER()
	RET()
}
