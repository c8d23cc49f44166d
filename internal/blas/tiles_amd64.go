//go:build !purego

package blas

import "golang.org/x/sys/cpu"

//go:generate go -C ../gen run ./blas -out ../blas/tiles_amd64.s -stubs ../blas/stubs_amd64.go -pkg blas

// tiled are the libraries of the machine that have tiles.
func tiled() (list []library) {
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		list = append(list, library{"AVX2", 6, 16, tilesAVX2, rowAVX2, column8})
		if cpu.X86.HasAVX512F {
			list = append(list, library{"AVX-512", 12, 32, tilesAVX512, rowAVX512, column8})
		}
	}
	return list
}
