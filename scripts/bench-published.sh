#!/usr/bin/env bash
# Measures the shapes of queries that GraphQL servers publish numbers of, under many connections, with the load tool
# hey. Prints a Markdown table. Without HELIOGRAPH_DATABASE_URL, it measures the demo network.
#
#   scripts/bench-published.sh [SECONDS] [CONNECTIONS] [BINARY]      default: 60, 100, bin/heliograph
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

seconds=${1:-60}
connections=${2:-100}
binary=${3:-bin/heliograph}
hey=github.com/rakyll/hey@v0.1.4
[ -x "$binary" ] || { say "$binary does not exist: run make build."; exit 2; }

tmp=$(mktemp -d)
chmod 755 "$tmp" # PostgreSQL does not run as root: another user needs access to the data folder
cleanup() {
  [ -z "${pid-}" ] || { kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; } || true
  rm -rf "$tmp"
}
trap cleanup EXIT

GOBIN=$tmp go install "$hey"
[ -n "${HELIOGRAPH_DATABASE_URL-}" ] || set -- --data-dir "$tmp/data" --demo on
[ -z "${HELIOGRAPH_DATABASE_URL-}" ] || set --
"$binary" serve --listen 127.0.0.1:0 --admin-listen '' --response-cache-bytes 0 "$@" >"$tmp/out" 2>"$tmp/log" &
pid=$!
base=
for _ in $(seq 600); do
  kill -0 "$pid" 2>/dev/null || { say 'The gateway terminated. Its log:'; tail -n 5 "$tmp/log" >&2; exit 1; }
  base=$(base_of "$tmp/log")
  if [ -n "$base" ] && curl -fs -o /dev/null "$base/api/v1/blocks?limit=1"; then break; fi
  sleep 0.1
done

# measure NAME DOCUMENT prints a row: requests per second, milliseconds, and answers other than 200.
measure() {
  printf '{"query":"%s"}' "${2//$'\n'/ }" >"$tmp/body"
  curl -fs -H 'content-type: application/json' -d "@$tmp/body" "$base/graphql" >"$tmp/answer"
  if grep -q '"errors"' "$tmp/answer"; then
    say "$1: $(head -c 500 "$tmp/answer")"
    exit 1
  fi
  "$tmp/hey" -z "${seconds}s" -c "$connections" -m POST -T application/json -D "$tmp/body" "$base/graphql" >"$tmp/report"
  awk -v name="$1" -v bytes="$(wc -c <"$tmp/answer")" '
    /Requests\/sec:/ { rate = $2 }
    /^ *50%+ in/ { p50 = $3 * 1000 }
    /^ *95%+ in/ { p95 = $3 * 1000 }
    /^ *99%+ in/ { p99 = $3 * 1000 }
    /^Error distribution:/ { failed = 1 }
    failed && /^ *\[/ { gsub(/[][]/, "", $1); errors += $1; next }
    /^ *\[[0-9]+\]/ && $1 != "[200]" { errors += $2 }
    END { printf "| %s | %d | %d | %.0f | %.0f | %.0f | %d |\n", name, bytes, rate, p50, p95, p99, errors }
  ' "$tmp/report"
}

printf '%s, %s processors; %s connections for %s s; hey v0.1.4, gateway and PostgreSQL on this machine\n\n' \
  "$(uname -sm)" "$(getconf _NPROCESSORS_ONLN)" "$connections" "$seconds"
echo '| query | bytes | requests/s | p50, ms | p95, ms | p99, ms | errors |'
echo '|---|--:|--:|--:|--:|--:|--:|'
account='entityId memo balance'
transaction='consensusTimestamp type result chargedFee memoText'
measure 'a list of 20 rows' "{ tokens(first: 20) { nodes { entityId name symbol decimals totalSupply } } }"
measure 'three levels, 10 × 5 rows' "{ tokens(first: 10) { nodes { name treasuryAccount { $account }
  balances(first: 5) { nodes { balance account { $account } } } } } }"
measure 'six levels' "{ blocks(first: 2) { nodes { number transactions(first: 3) { nodes { $transaction
  payer { $account transactions(first: 2) { nodes { $transaction transfers { amount account { $account } } } } } } } } } }"
measure '10 rows' "{ transactions(first: 10) { nodes { $transaction } } }"
measure '100 rows' "{ transactions(first: 100) { nodes { $transaction } } }"
