//go:build !purego

package piecewise

import "golang.org/x/sys/cpu"

//go:generate go -C ../gen run ./piecewise -out ../piecewise/kernels_amd64.s -stubs ../piecewise/stubs_amd64.go -pkg piecewise

// vectorKernels are the kernels with vector instructions that the machine has, the best last.
func vectorKernels() (list []kernels[float32]) {
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		list = append(list, ofPointers("AVX2", 32, splitAVX2, forwardAVX2, backwardAVX2))
		if cpu.X86.HasAVX512F {
			list = append(list, ofPointers("AVX-512", 64, splitAVX512, forwardAVX512, backwardAVX512))
		}
	}
	return list
}
