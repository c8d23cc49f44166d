package datasets

import "golang.org/x/sys/cpu"

// wide says whether the machine has the instructions of the functions below. A variable for
// tests.
var wide = cpu.X86.HasAVX512F

// logStandardRow is applyLogStandard for the n columns of a row: the same bits.
//
//go:noescape
func logStandardRow(dst, row *float32, columns *int, shift, scale *float64, n int, table *logEntry)

// columnLimits sets the least and the greatest number of each of so many columns of the n
// rows, where those that are missing count for nothing and infinite ones as the largest.
//
//go:noescape
func columnLimits(low, high, rows *float32, inputs, n, columns int)

// minMaxRow sets (x − low)·scale, 1 at most, for the n columns of a row, and 0 where x is
// missing.
//
//go:noescape
func minMaxRow(dst, row *float32, columns *int, low, scale *float64, n int)

// quantileColumn is lookups.column for the n rows of a column, strides from one to the
// next: the same bits.
//
//go:noescape
func quantileColumn(dst *float32, stride int, rows *float32, inputs int, n int, start *uint8, knots, scores *float32, step int)

// quantileRow is lookups.column for the n columns of a row: the same bits.
//
//go:noescape
func quantileRow(dst, row *float32, columns *int, n int, start *uint8, knots, scores *float32, first *int32, step int)
