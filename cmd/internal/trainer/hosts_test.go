//go:build mpi

package trainer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/testkit"
)

// Two ranks on two hosts, which have nothing but a network between them, end with the model
// of one process.
func TestRanksOnTwoHosts(t *testing.T) {
	if err := testkit.LinkPossible(testkit.Ethernet); err != nil {
		t.Skip(err)
	}
	args, dir := busyRun(t), t.TempDir()
	if status, _, stderr := call(append(args, "-shards", "8", "-out", filepath.Join(dir, "alone"))...); status != 0 {
		t.Fatal(stderr)
	}
	if output, err := outputOf(mpirunOver(t, testkit.Ethernet, 2, append(args, "-out", filepath.Join(dir, "hosts"))...)); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if read(t, filepath.Join(dir, "hosts", "model.npz")) != read(t, filepath.Join(dir, "alone", "model.npz")) {
		t.Error("another model")
	}
	// That they were two hosts can be seen by what they call themselves.
	names := testkit.MPICommand(t.Context(), t, 2, testkit.Ethernet, "hostname")
	names.Stderr = os.Stderr
	output, err := names.Output()
	if err != nil || strings.Count(string(output), "host-1\n") != 1 || strings.Count(string(output), "host-2\n") != 1 {
		t.Errorf("%v: hosts are called %q", err, output)
	}
}
