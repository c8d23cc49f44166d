// Package asm has what the generators of vector instructions share, on top of avo.
package asm

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Text begins a function of that name and signature, such as "(x *float32, n int)", whose
// pointers do not escape. The documentation goes on after the name.
func Text(name, signature string, doc ...string) {
	build.TEXT(name, build.NOSPLIT, "func"+signature)
	build.Pragma("noescape")
	doc[0] = name + " " + doc[0]
	build.Doc(doc...)
}

// Word gives a register with a parameter, a pointer or an int.
func Word(name string) reg.Register { return build.Load(build.Param(name), build.GP64()) }

// Address gives where a parameter is.
func Address(name string) operand.Mem {
	p, err := build.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}

// Flush has numbers below the smallest normal one be 0, which costs nothing, while they
// take a hundred times as long as others. The function that is called ends it.
func Flush() (end func()) {
	const flushToZero, denormalsAreZero = 1 << 15, 1 << 6
	words := build.AllocLocal(8)
	before, during, word := words, words.Offset(4), build.GP32()
	build.STMXCSR(before)
	build.MOVL(before, word)
	build.ORL(operand.U32(flushToZero|denormalsAreZero), word)
	build.MOVL(word, during)
	build.LDMXCSR(during)
	return func() { build.LDMXCSR(before) }
}
