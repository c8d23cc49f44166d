package datasets

import "golang.org/x/sys/cpu"

// wide says whether the machine has the instructions of logStandardRow and quantileColumn. A
// variable for tests.
var wide = cpu.X86.HasAVX512F

// logStandardRow is applyLogStandard for the n columns of a row: the same bits.
//
//go:noescape
func logStandardRow(dst, row *float32, columns *int, shift, scale *float64, n int, table *logEntry)

// quantileColumn is lookup.column for the n rows of a column, strides from one to the
// next: the same bits.
//
//go:noescape
func quantileColumn(dst *float32, stride int, rows *float32, inputs int, n int, start *uint8, keys *uint32, pieces *piece, step int)
