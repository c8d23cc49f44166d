#!/bin/sh
# Load on a service without and with a log of clicks, in turns. For each turn: with or without, requests
# a second, and the milliseconds of processor time that the service takes for a request. At the end the
# medians, and how long a sync took.
#
#	DOCUMENTS=100 serving/log.sh PLRANK MODEL FOLDER
#
# PLRANK is the program, FOLDER a new one on the disk to measure. Every request draws RANKS (10).
export DOCUMENTS="${DOCUMENTS:-100}" RANKS="${RANKS:-10}"
"$1" serve -model "$2" -listen localhost:18080 -drain 0 2>/dev/null & a=$!
"$1" serve -model "$2" -listen localhost:18081 -drain 0 -log "$3" 2>/dev/null & b=$!
trap 'kill $a $b' EXIT
sleep 2
cpu() { curl -s "localhost:$1/metrics" | awk '$1 == "process_cpu_seconds_total" { print $2 }'; }
turn() {
  before=$(cpu "$2")
  line=$(wrk -t1 -c"${CONNECTIONS:-64}" -d"${DURATION:-5s}" --timeout 20s -s "$(dirname "$0")/rank.lua" "http://localhost:$2" | grep requests/s)
  echo "$1 $(echo "$line" | sed 's/.*, \([0-9]*\) requests\/s.*/\1/') $(cpu "$2") $before $(echo "$line" | sed 's/.* \([0-9]*\) requests;.*/\1/')" |
    awk '{ printf "%s %d %.3f\n", $1, $2, ($3 - $4) / $5 * 1000 }'
}
median() { awk -v n="$1" -v c="$2" '$1 == n { print $c }' | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
turns=$(for i in $(seq "${PAIRS:-11}"); do turn without 18080; turn with 18081; done)
echo "$turns"
for name in without with; do
  echo "$name: $(echo "$turns" | median $name 2) requests/s, $(echo "$turns" | median $name 3) ms"
done
curl -s localhost:18081/metrics | awk '/^plrank_log_sync_seconds_sum/ { s = $2 } /^plrank_log_sync_seconds_count/ { n = $2 }
  END { printf "a sync: %.1f ms\n", s / n * 1000 }'
