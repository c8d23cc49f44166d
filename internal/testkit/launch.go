package testkit

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Link is the way by which ranks reach each other.
type Link string

// The links. On Ethernet, each rank has a host of its own: a network namespace with a
// name, an address and a cable to a switch. That takes root.
const (
	Memory   Link = "memory"          // shared memory
	Loopback Link = "loopback"        // TCP, on one host
	Ethernet Link = "ethernet"        // TCP, as fast as the system can
	Gigabit  Link = "gigabitethernet" // TCP, 1 Gbit/s from each host
)

// rates are those at which a host sends, in words of tc.
var rates = map[Link]string{Ethernet: "", Gigabit: "1gbit"}

// hosts makes a number of hosts and runs a command on the first one.
//
//go:embed hosts.sh
var hosts string

// LinkPossible returns an error if the system cannot make such a link.
func LinkPossible(link Link) error {
	if _, hosts := rates[link]; !hosts {
		return nil
	}
	if os.Getuid() != 0 {
		return fmt.Errorf("%s takes root", link)
	}
	for _, try := range [][]string{{"ip", "netns", "list"}, {"unshare", "--uts", "true"}, {"tc", "-V"}} {
		if out, err := exec.CommandContext(context.Background(), try[0], try[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %s: %w: %s", link, strings.Join(try, " "), err, out)
		}
	}
	return nil
}

// MPICommand returns the command that runs a program on that number of ranks. The ranks of a host share its cores.
// Its files are in a folder of its own: commands that start or end at the same moment make and remove the common one
// of Open MPI 4.1 under each other, and one of them ends with "mkdir … File exists".
func MPICommand(ctx context.Context, t testing.TB, ranks int, link Link, program string, args ...string) *exec.Cmd {
	t.Helper()
	dir, err := os.MkdirTemp("", "mpi") // short: a test's own folder may be too long for a socket's name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	mpirun := []string{"mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "orte_tmpdir_base", dir}
	rate, ethernet := rates[link]
	switch {
	case ethernet:
		var addresses []string
		for i := range ranks {
			addresses = append(addresses, fmt.Sprintf("10.97.0.%d", i+1))
		}
		mpirun = append(mpirun, "--mca", "pml", "ob1", "--mca", "btl", "tcp,self",
			"--mca", "btl_tcp_if_include", "10.97.0.0/24", "--mca", "oob_tcp_if_include", "10.97.0.0/24",
			"--host", strings.Join(addresses, ","))
	case link == Loopback:
		mpirun = append(mpirun, "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo")
	}
	line := append(append(mpirun, "-n", fmt.Sprint(ranks), program), args...)
	if ethernet {
		line = append([]string{"sh", "-c", hosts, "sh", fmt.Sprint(ranks), rate}, line...)
	}
	run := exec.CommandContext(ctx, line[0], line[1:]...)
	run.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	return run
}
