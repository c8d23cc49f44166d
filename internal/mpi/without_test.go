//go:build !mpi

package mpi

import (
	"strings"
	"testing"
)

// Without MPI a process that was started by itself is on its own, and one that a launcher
// has started says what to build.
func TestStart(t *testing.T) {
	for _, name := range []string{"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"} {
		t.Setenv(name, "")
	}
	if w, err := Start(); w != nil || err != nil {
		t.Errorf("%v, %v", w, err)
	}
	t.Setenv("OMPI_COMM_WORLD_SIZE", "2")
	if _, err := Start(); err == nil || !strings.Contains(err.Error(), "-tags mpi") {
		t.Errorf("started by mpirun: %v", err)
	}
}
