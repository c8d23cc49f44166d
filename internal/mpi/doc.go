// Package mpi is the processes that train one model together: how they come to one mind about errors, texts and
// numbers, and how mpirun's are joined, over Open MPI. That needs cgo and is built with -tags mpi only; without it, a
// program that was started by mpirun says so.
package mpi
