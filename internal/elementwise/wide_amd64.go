//go:build !purego && !plainelementwise

package elementwise

import "golang.org/x/sys/cpu"

//go:generate go -C ../gen run ./elementwise -out ../elementwise/elementwise_amd64.s -stubs ../elementwise/stubs_amd64.go -pkg elementwise

// wide says whether the machine has the instructions; tests change it. A function has them if an
// epoch is more than 5 % slower without: docs/contributing.md has the figures.
var wide = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL
