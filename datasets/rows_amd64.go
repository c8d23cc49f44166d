//go:build !purego

package datasets

import "golang.org/x/sys/cpu"

//go:generate go -C ../internal/gen run ./rows -out ../../datasets/rows_amd64.s -stubs ../../datasets/stubs_amd64.go -pkg datasets

// wide says whether the machine has the instructions. A variable for tests.
var wide = cpu.X86.HasAVX512F && cpu.X86.HasBMI2
