//go:build !purego

package forest

import "golang.org/x/sys/cpu"

//go:generate go -C ../internal/gen run ./forest -out ../../forest/kernels_amd64.s -stubs ../../forest/stubs_amd64.go -pkg forest

// wide reports whether the machine has AVX-512, and bytewise whether it also has look-ups of bytes. Tests change them.
var (
	wide     = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL
	bytewise = wide && cpu.X86.HasAVX512VBMI
)

// accumulate is accumulatePlain.
func accumulate(h []uint64, bins []uint8, width, shift int, rows []uint32, pairs []uint64) {
	switch {
	case len(rows) == 0:
	case shift == 6:
		accumulate64(&h[0], &bins[0], width, &rows[0], len(rows), &pairs[0])
	default:
		accumulate256(&h[0], &bins[0], width, &rows[0], len(rows), &pairs[0])
	}
}
