#!/usr/bin/env bash
# Runs the compatibility tests with third-party clients, and the examples, against bin/heliograph with the live demo network: each run.sh in tests/* and
# examples/*, or in the given folders, for example tests/sdk or examples/go.
#
# HELIOGRAPH_URL is the URL of the gateway and HELIOGRAPH_ROOT the root of this repository. Each run.sh exits with 0 for success, 77 if it is not supported
# on this machine, and any other code for a failure. The remaining ones run even if one fails.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

work=$(mktemp -d)
chmod 755 "$work" # the database server may run as another user
gateway=''
stop() {
  if [ -n "$gateway" ]; then
    kill "$gateway" 2>/dev/null
    wait "$gateway" 2>/dev/null
  fi
  rm -rf "$work"
}
trap stop EXIT

bin/heliograph serve --demo=live --listen 127.0.0.1:0 --admin-listen '' --data-dir "$work/data" --log-format text >"$work/out" 2>"$work/log" &
gateway=$!
for _ in $(seq 600); do
  HELIOGRAPH_URL=$(sed -n 's|^ *GraphQL *\(http://.*\)/graphql$|\1|p' "$work/out")
  [ -z "$HELIOGRAPH_URL" ] || break
  kill -0 "$gateway" 2>/dev/null || break
  sleep 0.1
done
if [ -z "$HELIOGRAPH_URL" ]; then
  echo 'The gateway did not start. Its log:' >&2
  cat "$work/log" >&2
  exit 1
fi
HELIOGRAPH_ROOT=$PWD
export HELIOGRAPH_URL HELIOGRAPH_ROOT

[ $# -gt 0 ] || set -- tests/*/ examples/*/
failed=() skipped=()
for name in "$@"; do
  name=${name%/}
  [ -x "$name/run.sh" ] || name=tests/$name
  [ -x "$name/run.sh" ] || continue
  echo "--- $name"
  "$name/run.sh" </dev/null
  case $? in
    0) echo "--- $name: ok" ;;
    77) echo "--- $name: skipped" && skipped+=("$name") ;;
    *) echo "--- $name: FAILED" && failed+=("$name") ;;
  esac
done
[ ${#skipped[@]} -eq 0 ] || echo "Skipped: ${skipped[*]}"
if [ ${#failed[@]} -gt 0 ]; then
  echo "FAILED: ${failed[*]}. The last lines of the gateway's log:"
  tail -n 20 "$work/log"
  exit 1
fi
