//go:build !purego

package elementwise

import (
	"math"

	"golang.org/x/sys/cpu"
)

//go:generate go -C ../gen run ./elementwise -out ../elementwise/elementwise_amd64.s -stubs ../elementwise/stubs_amd64.go -pkg elementwise

// wide says whether the machine has the instructions of Adam and of logistic functions; tests change it.
var wide = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL

var useAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasFMA

func exponentials32(x []float32, highest, scale float32) (sum float32) {
	if !useAVX2 {
		return exponentials(x, highest, scale)
	}
	const width = 8
	whole := len(x) / width * width
	if whole > 0 {
		sum = expAVX2(&x[0], whole, highest, scale)
	}
	if whole < len(x) {
		var tail [width]float32
		for i := copy(tail[:], x[whole:]); i < width; i++ {
			tail[i] = float32(math.Inf(-1))
		}
		sum += expAVX2(&tail[0], width, highest, scale)
		copy(x[whole:], tail[:])
	}
	return sum
}
