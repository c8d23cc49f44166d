//go:build openblas

// Package openblas makes gonum and Gorgonia multiply matrices by OpenBLAS, in
// programs that import it. It is apart from package blas because Go allows no
// assembly beside cgo.
package openblas

/*
#cgo LDFLAGS: -lopenblas
void openblas_set_num_threads(int);
*/
import "C"

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/netlib/blas/netlib"
	"gorgonia.org/gorgonia"
)

func init() {
	blas32.Use(netlib.Implementation{})
	blas64.Use(netlib.Implementation{})
	gorgonia.Use(netlib.Implementation{})
	// Products come in blocks that are spread over the cores already, in a way
	// that does not depend on how many there are.
	C.openblas_set_num_threads(1)
}
