//go:build !purego

package columns

import "golang.org/x/sys/cpu"

//go:generate go -C ../../../internal/gen run ./rows -out ../../transforms/internal/columns/rows_amd64.s -stubs ../../transforms/internal/columns/stubs_amd64.go -pkg columns

// wide says whether the machine has the instructions. A variable for tests.
var wide = cpu.X86.HasAVX512F && cpu.X86.HasBMI2
