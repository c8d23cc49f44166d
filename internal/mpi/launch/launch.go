// Package launch starts commands on several ranks of this machine, for tests and
// measurements: under Open MPI's mpirun, over links of several kinds.
package launch

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// A Link is how the ranks reach each other.
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

// hosts is a shell script that makes so many hosts and runs a command on the first one. What
// mpirun does by ssh, an agent does by entering another one.
const hosts = `
set -e
ns=plrank-$$ n=$1 rate=$2 dir=$(mktemp -d)
shift 2
trap 'for i in switch $(seq $n); do ip netns del $ns-$i; done; rm -r $dir' EXIT
ip netns add $ns-switch
ip -n $ns-switch link add switch type bridge
ip -n $ns-switch link set switch up
for i in $(seq $n); do
	ip netns add $ns-$i
	ip link add eth0 netns $ns-$i type veth peer name port$i netns $ns-switch
	ip -n $ns-switch link set port$i master switch up
	ip -n $ns-$i addr add 10.97.0.$i/24 dev eth0
	ip -n $ns-$i link set eth0 up
	ip -n $ns-$i link set lo up
	if [ -n "$rate" ]; then tc -n $ns-$i qdisc add dev eth0 root tbf rate $rate burst 256k latency 50ms; fi
done
cat > $dir/agent <<AGENT
#!/bin/sh
host=\${1##*.}
shift
exec ip netns exec $ns-\$host unshare --uts sh -c "hostname host-\$host; \$*"
AGENT
chmod +x $dir/agent
cat > $dir/first <<'FIRST'
hostname host-1
exec "$@"
FIRST
run=$1
shift
ip netns exec $ns-1 unshare --uts sh $dir/first $run --mca plm_rsh_agent $dir/agent "$@"
`

// Possible is an error where there cannot be such a link.
func Possible(link Link) error {
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

// Command is a program on so many ranks. Those of one host share its cores.
func Command(ctx context.Context, ranks int, link Link, program string, args ...string) *exec.Cmd {
	mpirun := []string{"mpirun", "--oversubscribe", "--bind-to", "none"}
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
