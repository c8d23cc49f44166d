//go:build !purego

package lanes

import "golang.org/x/sys/cpu"

//go:generate go -C ../../../internal/gen run ./lanes -out ../../plackett/internal/lanes/lanes_amd64.s

func vectorInstructions() (list []instructions) {
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		list = append(list, instructions{"AVX2", expm1AVX2, sumsAVX2, hornerAVX2, transitionsAVX2, multiplyAVX2, divideAVX2, forwardAVX2,
			backwardAVX2, seriesAVX2, correlateAVX2, scaleAVX2, seriesDualAVX2, forwardDualAVX2, backwardDualAVX2, multiplyDualAVX2,
			divideDualAVX2, remainAVX2, placeAVX2, productAVX2})
		if cpu.X86.HasAVX512F {
			list = append(list, instructions{"AVX-512", expm1AVX512, sumsAVX512, hornerAVX512, transitionsAVX512, multiplyAVX512, divideAVX512,
				forwardAVX512, backwardAVX512, seriesAVX512, correlateAVX512, scaleAVX512, seriesDualAVX512, forwardDualAVX512,
				backwardDualAVX512, multiplyDualAVX512, divideDualAVX512, remainAVX512, placeAVX512, productAVX512})
		}
	}
	return list
}
