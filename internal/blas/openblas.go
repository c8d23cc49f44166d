//go:build openblas

package blas

import _ "github.com/plrank/plrank/internal/openblas" // gonum then uses OpenBLAS

const withOpenBLAS = true
