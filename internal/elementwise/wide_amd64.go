//go:build !purego && !plainelementwise

package elementwise

import "golang.org/x/sys/cpu"

//go:generate go -C ../gen run ./elementwise -out ../elementwise/elementwise_amd64.s -stubs ../elementwise/stubs_amd64.go -pkg elementwise

// wide says whether the machine has the instructions; tests change it. A function has them if an
// epoch is more than 5 % slower without. Processor time without over with, medians of 11 to 25
// pairs on one core (AMD EPYC, shared with other programs):
//
//	             default recipe   large recipe     paper's recipe
//	             (MQ2008)         (MSLR's shape)   (MQ2008)
//	all of them  1.37             1.12             1.11
//	Adam         1.43             1.04             not used
//	ReLUVJP      1.04             1.09             not used
//	Sigmoid      not used         not used         1.12
//
// Dropout, the derivative of the sigmoid and the steps of SGD came to 1.02 at most. Whole runs come
// to 1.24 (default) and about 1.07 (large):
//
//	go build -o with ./cmd/train && go build -o without -tags plainelementwise ./cmd/train
//	export GOMAXPROCS=1
//	time ./with -data MQ2008/Fold1 -epochs 40 -patience 0 -cache off -threads 1
//	time ./with -data synthetic:mslr -scale 0.06 -epochs 8 -cache off -threads 1
var wide = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL
