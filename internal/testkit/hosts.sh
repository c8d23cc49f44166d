# hosts.sh RANKS RATE mpirun …: makes that number of hosts, and runs the command on the first one. What
# mpirun does by ssh, an agent does by entering another one.
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
