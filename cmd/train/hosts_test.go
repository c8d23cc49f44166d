//go:build mpi

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// hosts is a shell script that runs a command on the first of two hosts of its own:
// network namespaces with names and addresses of theirs, joined by a cable. What mpirun
// does by ssh, an agent does by entering the other one.
const hosts = `
set -e
ns=plrank-$$
trap 'ip netns del $ns-1; ip netns del $ns-2' EXIT
ip netns add $ns-1
ip netns add $ns-2
ip link add v1 netns $ns-1 type veth peer name v2 netns $ns-2
for i in 1 2; do
	ip -n $ns-$i addr add 10.97.0.$i/24 dev v$i
	ip -n $ns-$i link set v$i up
	ip -n $ns-$i link set lo up
done
cat > $1/agent <<AGENT
#!/bin/sh
host=\${1##*.}
shift
exec ip netns exec $ns-\$host unshare --uts sh -c "hostname host-\$host; \$*"
AGENT
chmod +x $1/agent
cat > $1/host-1 <<'HOST'
hostname host-1
exec "$@"
HOST
shift
ip netns exec $ns-1 unshare --uts sh $DIR/host-1 "$@"
`

// Two ranks on two hosts, which have nothing but a network between them, end with the model
// of one process.
func TestRanksOnTwoHosts(t *testing.T) {
	if os.Getuid() != 0 || exec.Command("ip", "netns", "list").Run() != nil || exec.Command("unshare", "--uts", "true").Run() != nil {
		t.Skip("to make hosts takes root, ip netns and unshare")
	}
	args, dir := busyRun(t), t.TempDir()
	if status, _, stderr := call(append(args, "-shards", "8", "-out", filepath.Join(dir, "alone"))...); status != 0 {
		t.Fatal(stderr)
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "sh", append([]string{"-c", hosts, "sh", dir,
		"mpirun", "--mca", "plm_rsh_agent", dir + "/agent", "--mca", "pml", "ob1", "--mca", "btl", "tcp,self",
		"--mca", "btl_tcp_if_include", "10.97.0.0/24", "--mca", "oob_tcp_if_include", "10.97.0.0/24",
		"--host", "10.97.0.1,10.97.0.2", "-x", childVariable, "-x", "XDG_CACHE_HOME", "-n", "2",
		binary}, append(args, "-out", filepath.Join(dir, "hosts"))...)...)
	run.Env = append(os.Environ(), "DIR="+dir, childVariable+"=0", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	output, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if read(t, filepath.Join(dir, "hosts", "model.npz")) != read(t, filepath.Join(dir, "alone", "model.npz")) {
		t.Error("another model")
	}
	// That they were two hosts can be seen by what they call themselves.
	run.Args = append(run.Args[:len(run.Args)-len(args)-3], "hostname")
	names := exec.CommandContext(t.Context(), run.Args[0], run.Args[1:]...)
	names.Env = run.Env
	output, err = names.Output()
	if err != nil || strings.Count(string(output), "host-1\n") != 1 || strings.Count(string(output), "host-2\n") != 1 {
		t.Errorf("%v: hosts are called %s", err, fmt.Sprintf("%q", output))
	}
}
