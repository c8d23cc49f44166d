//go:build !mpi

package mpi

import "errors"

// Start returns nil for a process that was started by itself, and an error for one that
// mpirun has started.
func Start() (World, error) {
	if launched() {
		return nil, errors.New("started by mpirun, but built without MPI: build with -tags mpi, which needs cgo and Open MPI " +
			"(Debian: libopenmpi-dev openmpi-bin)")
	}
	return nil, nil
}
