//go:build !purego && !plainelementwise

package elementwise

import "golang.org/x/sys/cpu"

//go:generate go -C ../gen run ./elementwise -out ../elementwise/elementwise_amd64.s -stubs ../elementwise/stubs_amd64.go -pkg elementwise

// wide says whether the machine has the instructions; tests change it.
//
// A function has vector instructions if an epoch is more than 5 % slower without them. The
// processor time of an epoch on one core without them, over that with them, medians of 11 to 25
// pairs of epochs, or of blocks of 3, of one process in turn (AMD EPYC, shared with other programs):
//
//	             default recipe   large recipe     paper's recipe
//	             (MQ2008)         (MSLR's shape)   (MQ2008)
//	all of them  1.37             1.12             1.11
//	Adam         1.43             1.04             not used
//	ReLUVJP      1.04             1.09             not used
//	Sigmoid      not used         not used         1.12
//
// Dropout (1.02 of the default recipe), the derivative of the sigmoid and the steps of SGD (1.00 of
// the paper's, together) have none for that reason. Whole runs, with reading, validation and the
// report, have ratios of 1.24 (default, the median of 7 pairs) and about 1.07 (large, 6 pairs, from 1.02 to 1.18):
//
//	go build -o with ./cmd/train && go build -o without -tags plainelementwise ./cmd/train
//	export GOMAXPROCS=1
//	time ./with -data MQ2008/Fold1 -epochs 40 -patience 0 -cache off -threads 1
//	time ./with -data synthetic:mslr -scale 0.06 -epochs 8 -cache off -threads 1
var wide = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL
