// Package mpi is the processes that train one model together: how they come to one mind about errors, texts and
// numbers, and how mpirun's are joined, over Open MPI. That needs cgo and is built with -tags mpi only; without it, a
// program that was started by mpirun says so.
package mpi

import (
	"cmp"
	"os"
)

// A World is all processes that mpirun has started.
type World interface {
	Group
	Close()           // waits for all ranks; a process that was started by mpirun calls it before it ends
	Abort(status int) // ends all ranks at once
}

// launched reports whether the process is one of several that a launcher has started: by the
// variables that Open MPI's mpirun sets, or another launcher by PMIx or PMI, such as srun.
func launched() bool {
	return cmp.Or(os.Getenv("OMPI_COMM_WORLD_SIZE"), os.Getenv("PMIX_RANK"), os.Getenv("PMI_RANK")) != ""
}

// FirstOfHost reports whether the process is the first one of its host, as the launcher
// numbers them; where it does not, every process is.
func FirstOfHost() bool {
	return cmp.Or(os.Getenv("OMPI_COMM_WORLD_LOCAL_RANK"), os.Getenv("SLURM_LOCALID"), os.Getenv("MPI_LOCALRANKID"), "0") == "0"
}
