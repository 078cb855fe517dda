#!/usr/bin/env bash
# Measures the time from the start of the gateway to its first response, and its resident memory:
#   cold      with an empty data folder: creates, migrates and fills the embedded PostgreSQL
#   warm      with the same data folder
#   attached  with a running database; also with 64 concurrent contract calls
# Prints each number with its target. Fails if a target is missed.
#
#   scripts/measure-start.sh [BINARY]      default: bin/heliograph, built by `make build`
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

binary=${1:-bin/heliograph}
[ -x "$binary" ] || { say "$binary does not exist: run make build."; exit 2; }

tmp=$(mktemp -d)
chmod 755 "$tmp" # PostgreSQL does not run as root: another user needs access to the data folder
pids=()
clients=()
cleanup() {
  local pid
  for pid in ${pids[@]+"${pids[@]}"}; do kill "$pid" 2>/dev/null || true; done
  for pid in ${pids[@]+"${pids[@]}"}; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$tmp"
}
trap cleanup EXIT

# now prints the time in microseconds.
now() {
  if [ -n "${EPOCHREALTIME-}" ]; then
    echo "${EPOCHREALTIME/[.,]/}"
  else
    perl -MTime::HiRes=time -e 'printf "%d\n", time * 1e6'
  fi
}

failed=0
# number NAME VALUE UNIT TARGET prints a number and checks that it is below its target.
number() {
  local verdict=ok
  if awk "BEGIN { exit !($2 >= $4) }"; then
    verdict=MISSED
    failed=1
  fi
  printf '%-34s %8s %-3s (target < %s)  %s\n' "$1" "$2" "$3" "$4" "$verdict"
}

# start NAME ARGS... starts a gateway and waits for its first response. It sets pid, base and took (in seconds).
start() {
  local name=$1 begin
  shift
  : >"$tmp/$name.log"
  begin=$(now)
  "$binary" serve --listen 127.0.0.1:0 --admin-listen '' "$@" >"$tmp/$name.out" 2>"$tmp/$name.log" &
  pid=$!
  pids+=("$pid")
  base=
  until [ -n "$base" ] && curl -fs -o "$tmp/answer" "$base/api/v1/blocks?limit=1"; do
    kill -0 "$pid" 2>/dev/null || { say "The gateway terminated. Its log:"; tail -n 5 "$tmp/$name.log" >&2; exit 1; }
    [ $(($(now) - begin)) -lt 120000000 ] || { say 'No response after two minutes.'; exit 1; }
    base=$(base_of "$tmp/$name.log")
    sleep 0.005
  done
  took=$(awk "BEGIN { printf \"%.2f\", ($(now) - $begin) / 1e6 }")
}

# resident prints the resident memory of a process, in MiB.
resident() { ps -o rss= -p "$1" | awk '{ printf "%.0f", $1 / 1024 }'; }

idle=10 # seconds without requests before memory is measured

start cold --data-dir "$tmp/data" --demo on
number 'cold start with the demo network' "$took" s 10
sleep "$idle"
number '  resident, idle after loading' "$(resident "$pid")" MiB 60
kill "$pid"
wait "$pid" || true

start warm --data-dir "$tmp/data"
number 'warm start' "$took" s 1.5
sleep "$idle"
number '  resident, idle' "$(resident "$pid")" MiB 60
database=$(sed -n 's|^ *database *||p' "$tmp/warm.out")

start attached --database-url "$database"
number 'attached start' "$took" s 0.5
sleep "$idle"
number '  resident, idle' "$(resident "$pid")" MiB 60
for _ in $(seq 20); do
  for path in 'accounts?limit=25' 'transactions?limit=25' 'blocks' 'balances'; do
    printf 'url = "%s/api/v1/%s"\noutput = "%s/answer"\n' "$base" "$path" "$tmp"
  done
done >"$tmp/requests"
for _ in 1 2 3 4; do curl -fsK "$tmp/requests" & clients+=($!); done
wait "${clients[@]}"
number '  resident, after 320 requests' "$(resident "$pid")" MiB 150

# Calls that need 2 MB of memory, a million steps, or a thousand hashes, and an ERC-20 balanceOf.
furnace=0000000000000000000000000000000000000b57
word() { printf '%064x' "$1"; }
call() {
  printf 'url = "%s/api/v1/contracts/call"\nheader = "content-type: application/json"\noutput = "%s/call"\nmax-time = 60\n' "$base" "$tmp"
  printf 'write-out = "%%{http_code}\\n"\ndata = "{\\"to\\":\\"%s\\",\\"data\\":\\"%s\\"}"\nnext\n' "$1" "$2"
}
for _ in $(seq 40); do
  call "$furnace" "20c5566c$(word 70000)"
  call "$furnace" "dc715d1b$(word 90000)"
  call "$furnace" "501895ae$(word 1000)"
  call 0000000000000000000000000000000000000bb9 "70a08231$(word 1001)"
done | sed '$d' >"$tmp/calls" # no "next" after the last call
most=0
curl -sS --parallel --parallel-immediate --parallel-max 64 -K "$tmp/calls" 2>/dev/null >"$tmp/statuses" &
client=$!
while kill -0 "$client" 2>/dev/null; do
  now_resident=$(resident "$pid")
  [ "$now_resident" -le "$most" ] || most=$now_resident
  sleep 0.05
done
answered=$(grep -c '^200$' "$tmp/statuses" || true)
number '  resident, maximum, 64 calls' "$most" MiB 286
[ "$answered" = 160 ] || { say "Only $answered of 160 calls succeeded."; failed=1; }
exit "$failed"
