//go:build !openblas

package blas

const withOpenBLAS = false
