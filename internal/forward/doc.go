// Package forward computes the layers of scoring models on plain slices, row-major
// and of float32 or float64, and their derivatives. Results are bit-identical for any
// GOMAXPROCS.
package forward
