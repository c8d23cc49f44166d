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

var constants = map[string]operand.Mem{}

// Stored gives where values are in memory, one after another. Several functions may use a
// name for the same values.
func Stored(name string, values ...operand.Constant) operand.Mem {
	at, ok := constants[name]
	if !ok {
		at = build.GLOBL(name, build.RODATA|build.NOPTR)
		for i, v := range values {
			build.DATA(i*v.Bytes(), v)
		}
		constants[name] = at
	}
	return at
}

// All64 and All32 give a register of AVX-512 in which all numbers are that in memory.
func All64(from operand.Op) reg.VecVirtual { r := build.ZMM(); build.VBROADCASTSD(from, r); return r }
func All32(from operand.Op) reg.VecVirtual { r := build.ZMM(); build.VBROADCASTSS(from, r); return r }

// Floats64, Floats32, Bits64 and Bits32 give one in which all are a constant.
func Floats64(name string, v float64) reg.VecVirtual { return All64(Stored(name, operand.F64(v))) }
func Floats32(name string, v float32) reg.VecVirtual { return All32(Stored(name, operand.F32(v))) }
func Bits64(name string, v uint64) reg.VecVirtual    { return All64(Stored(name, operand.U64(v))) }
func Bits32(name string, v uint32) reg.VecVirtual    { return All32(Stored(name, operand.U32(v))) }
