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
	Generate()
}

// greater is the predicate of a comparison, of numbers that are not NaN or of unsigned integers.
const (
	greaterFloat = 30
	greaterByte  = 6
	ordered      = 7
)

// accumulate adds to 8 histograms at a time. Rows are fetched ahead, as they lie apart.
func accumulate(shift int) {
	Text(fmt.Sprint("accumulate", 1<<shift), "(h *uint64, bins *uint8, width int, rows *uint32, n int, pairs *uint64)",
		fmt.Sprintf("is accumulate for histograms of %d bins, and n rows, at least 1.", 1<<shift))
	const columns, ahead = 8, 12
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

// addTrees finds the leaves of 64 documents by comparing bytes, and gathers their values.
func addTrees() {
	Text("addTreesAVX512", "(scores *float64, planes *uint8, splits *uint64, depths *uint8, n int, leaves *float64)",
		"is addTrees for n trees, at least 1.")
	scores, planes, splits, depths, n, leaves := Word("scores"), Word("planes"), Word("splits"), Word("depths"), Word("n"), Word("leaves")
	var sums [documents / 8]VecVirtual
	for i := range sums {
		sums[i] = ZMM()
		VMOVUPD(Mem{Base: scores, Disp: i * 64}, sums[i])
	}
	one := Bits32("ones", 0x01010101)
	leaf, every := AllocLocal(documents), K()
	KXNORW(every, every, every)
	Label("tree")
	at, depth := ZMM(), GP64()
	VPXORQ(at, at, at)
	MOVBLZX(Mem{Base: depths}, depth.As32())
	size := GP64()
	MOVQ(U32(8), size)
	Label("level")
	plane, cut, above := GP64(), ZMM(), K()
	MOVL(Mem{Base: splits}, plane.As32())
	VPBROADCASTD(Mem{Base: splits, Disp: 4}, cut)
	bytes := ZMM()
	VMOVDQU64(Mem{Base: planes, Index: plane, Scale: 1}, bytes)
	VPCMPUB(Imm(greaterByte), cut, bytes, above)
	VPADDB(at, at, at)
	VPADDB(one, at, above, at)
	ADDQ(Imm(8), splits)
	ADDQ(size, size)
	DECQ(depth)
	JNZ(LabelRef("level"))
	VMOVDQU64(at, leaf)
	for i, sum := range sums {
		index, value, all := YMM(), ZMM(), K()
		VPMOVZXBD(leaf.Offset(i*8), index)
		KMOVW(every, all)
		VPXORQ(value, value, value)
		VGATHERDPD(Mem{Base: leaves, Index: index, Scale: 8}, all, value)
		VADDPD(value, sum, sum)
	}
	ADDQ(size, leaves)
	INCQ(depths)
	DECQ(n)
	JNZ(LabelRef("tree"))
	for i, sum := range sums {
		VMOVUPD(sum, Mem{Base: scores, Disp: i * 64})
	}
	VZEROUPPER()
	RET()
}
