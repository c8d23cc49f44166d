// Package forward computes the layers of scoring models on plain slices, row-major
// and of float32 or float64, with their vector–Jacobian products (VJP: the derivatives of a loss by
// the inputs, from those by the output). Results are bit-identical for any
// GOMAXPROCS.
package forward
