// Command blas writes the tiles of package blas: with avo for AVX-512 and AVX2, as text for
// NEON, of which avo knows nothing.
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
	for _, m := range []machine{{name: "AVX512", wide: true, rows: 12}, {name: "AVX2", rows: 6}} {
		m.tiles()
		m.row()
	}
	column()
	Generate()
	writeNEON("../blas/tiles_arm64.s")
}

// A machine is a set of instructions, with as many rows of a tile as fill its registers.
type machine struct {
	name string
	wide bool
	rows int
}

// vectors are the columns of a tile, in registers.
const vectors = 2

// register is one of the vector registers, by its number.
func (m machine) register(i int) VecPhysical {
	if m.wide {
		return [...]VecPhysical{Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15,
			Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23, Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z31}[i]
	}
	return [...]VecPhysical{Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15}[i]
}

// bytes of a register.
func (m machine) bytes() int {
	if m.wide {
		return 64
	}
	return 32
}

func (m machine) zero(r Op) {
	if m.wide {
		VPXORQ(r, r, r)
	} else {
		VXORPS(r, r, r)
	}
}

// operands are what a tile reads and writes.
type operands struct {
	a, aRow, aCol, bRow, c, cRow Register
}

func (m machine) tiles() {
	Text(
		"tiles"+m.name,
		"(rows, inner int, a *float32, aTile, aRow, aCol int, b *float32, bRow int, c *float32, cRow, add int, bias *float32, relu int)",
		"sets rows of c, of as many columns as a tile has, to those of a times b,",
		"or, if add is not 0, adds that to them. From one tile of a to the next are aTile bytes,",
		"from one row to the next aRow, from one column to the next aCol; from one row of b or c",
		"to the next bRow and cRow. There are one or more rows, and inner is one or more. A bias,",
		"if it is not nil, is added to every row, and then, if relu is not 0, numbers below 0",
		"become 0. Numbers below the smallest normal one count as 0.",
	)
	end := Flush()
	rows := Word("rows")
	o := operands{Word("a"), Word("aRow"), Word("aCol"), Word("bRow"), Word("c"), Word("cRow")}
	label := func(height int) string { return fmt.Sprintf("rows%d", height) }
	Label("next")
	for height := 1; height < m.rows; height++ {
		CMPQ(rows, Imm(uint64(height)))
		JE(LabelRef(label(height)))
	}
	m.tile(m.rows, o)
	aTile := Word("aTile")
	ADDQ(aTile, o.a)
	SUBQ(Imm(uint64(m.rows)), rows)
	JNZ(LabelRef("next"))
	JMP(LabelRef("end"))
	for height := 1; height < m.rows; height++ {
		Label(label(height))
		m.tile(height, o)
		JMP(LabelRef("end"))
	}
	Label("end")
	end()
	VZEROUPPER()
	RET()
}

// tile computes a tile, and moves c to the row after it.
func (m machine) tile(height int, o operands) {
	sums := make([][]VecPhysical, height)
	for i := range sums {
		sums[i] = make([]VecPhysical, vectors)
		for j := range sums[i] {
			sums[i][j] = m.register(i*vectors + j)
			m.zero(sums[i][j])
		}
	}
	var right [vectors]VecPhysical
	for j := range right {
		right[j] = m.register((m.rows+1)*vectors - 1 - j)
	}
	left := m.register((m.rows + 1) * vectors)

	multiply := fmt.Sprintf("multiply%d", height)
	add := Word("add")
	TESTQ(add, add)
	JZ(LabelRef(multiply))
	c := GP64()
	MOVQ(o.c, c)
	for i := range sums {
		for j := range sums[i] {
			VMOVUPS(Mem{Base: c, Disp: j * m.bytes()}, sums[i][j])
		}
		ADDQ(o.cRow, c)
	}

	Label(multiply)
	// A pointer for every third row: addresses reach the next two from there.
	var a []Register
	for i := 0; i < height; i += 3 {
		p := GP64()
		if i == 0 {
			MOVQ(o.a, p)
		} else {
			LEAQ(Mem{Base: a[len(a)-1], Index: o.aRow, Scale: 2}, p)
			ADDQ(o.aRow, p)
		}
		a = append(a, p)
	}
	b, k := Word("b"), Word("inner")
	loop := fmt.Sprintf("inner%d", height)
	Label(loop)
	for j := range right {
		VMOVUPS(Mem{Base: b, Disp: j * m.bytes()}, right[j])
	}
	for i := range sums {
		p := Mem{Base: a[i/3]}
		if i%3 > 0 {
			p.Index, p.Scale = o.aRow, uint8(i%3)
		}
		VBROADCASTSS(p, left)
		for j := range right {
			VFMADD231PS(right[j], left, sums[i][j])
		}
	}
	for _, p := range a {
		ADDQ(o.aCol, p)
	}
	ADDQ(o.bRow, b)
	DECQ(k)
	JNZ(LabelRef(loop))

	m.finish(fmt.Sprint("Tile", height), sums, left)
	for i := range sums {
		for j := range sums[i] {
			VMOVUPS(sums[i][j], Mem{Base: o.c, Disp: j * m.bytes()})
		}
		ADDQ(o.cRow, o.c)
	}
}

// finish adds the bias to the rows of sums, and makes numbers below 0 those.
func (m machine) finish(name string, sums [][]VecPhysical, zero VecPhysical) {
	bias := Word("bias")
	TESTQ(bias, bias)
	JZ(LabelRef("noBias" + name))
	for _, row := range sums {
		for j, sum := range row {
			VADDPS(Mem{Base: bias, Disp: j * m.bytes()}, sum, sum)
		}
	}
	Label("noBias" + name)
	relu := Word("relu")
	TESTQ(relu, relu)
	JZ(LabelRef("noReLU" + name))
	m.zero(zero)
	for _, row := range sums {
		for _, sum := range row {
			VMAXPS(sum, zero, sum) // NaN stays
		}
	}
	Label("noReLU" + name)
}

// mostPanels is how many panels of columns a row is computed for at a time.
const mostPanels = 6

// row is for a single row, of which a tile would fill few registers: the units would wait
// for each sum. It computes several panels side by side.
func (m machine) row() {
	Text("row"+m.name, "(inner int, a *float32, aCol int, b *float32, bRow int, c *float32, panels int, bias *float32, relu, all int)",
		"is the tiles of a single row for so many panels of columns side by side in b,",
		fmt.Sprintf("1 to %d. If all is 0, the rows of b that a multiplies by 0 are left out.", mostPanels))
	end := Flush()
	a, aCol, bRow, c, panels, all := Word("a"), Word("aCol"), Word("bRow"), Word("c"), Word("panels"), Word("all")
	left := m.register(mostPanels * vectors)
	for n := 1; n <= mostPanels; n++ {
		next := fmt.Sprint("more", n)
		if n < mostPanels {
			CMPQ(panels, Imm(uint64(n)))
			JNE(LabelRef(next))
		}
		sums := make([]VecPhysical, n*vectors)
		for j := range sums {
			sums[j] = m.register(j)
			m.zero(sums[j])
		}
		b, k := Word("b"), Word("inner")
		loop := fmt.Sprint("inner", n)
		Label(loop)
		skip, bits := fmt.Sprint("skip", n), GP32()
		MOVL(Mem{Base: a}, bits)
		ORL(all.(GPVirtual).As32(), bits)
		JZ(LabelRef(skip))
		VBROADCASTSS(Mem{Base: a}, left)
		for j, sum := range sums {
			VFMADD231PS(Mem{Base: b, Disp: j * m.bytes()}, left, sum)
		}
		Label(skip)
		ADDQ(aCol, a)
		ADDQ(bRow, b)
		DECQ(k)
		JNZ(LabelRef(loop))
		m.finish(fmt.Sprint("Row", n), [][]VecPhysical{sums}, left)
		for j, sum := range sums {
			VMOVUPS(sum, Mem{Base: c, Disp: j * m.bytes()})
		}
		if n < mostPanels {
			JMP(LabelRef("end"))
			Label(next)
		}
	}
	Label("end")
	end()
	VZEROUPPER()
	RET()
}

// column is for matrices of one column. Eight chains of additions keep the units busy: one chain
// has to wait for itself.
func column() {
	Text("column8", "(inner int, a *float32, aRow, aCol int, b *float32, bRow int, c *float32, cRow int)",
		"sets eight rows of c to those of a times b, where b and c have one column. The",
		"distances are as in the tiles.")
	end := Flush()
	k, a, b, c := Word("inner"), Word("a"), Word("b"), Word("c")
	row, aCol, bRow, cRow := Word("aRow"), Word("aCol"), Word("bRow"), Word("cRow")
	row3, row5, row7 := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: row, Index: row, Scale: 2}, row3)
	LEAQ(Mem{Base: row, Index: row, Scale: 4}, row5)
	LEAQ(Mem{Base: row3, Index: row, Scale: 4}, row7)
	sums, right := []VecPhysical{X0, X1, X2, X3, X4, X5, X6, X7}, VecPhysical(X8)
	for _, s := range sums {
		VXORPS(s, s, s)
	}
	Label("inner")
	VMOVSS(Mem{Base: b}, right)
	for i, p := range [...]Mem{{}, {Index: row, Scale: 1}, {Index: row, Scale: 2}, {Index: row3, Scale: 1},
		{Index: row, Scale: 4}, {Index: row5, Scale: 1}, {Index: row3, Scale: 2}, {Index: row7, Scale: 1}} {
		p.Base = a
		VFMADD231SS(p, right, sums[i])
	}
	ADDQ(aCol, a)
	ADDQ(bRow, b)
	DECQ(k)
	JNZ(LabelRef("inner"))
	for _, s := range sums {
		VMOVSS(s, Mem{Base: c})
		ADDQ(cRow, c)
	}
	end()
	RET()
}
