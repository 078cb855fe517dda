#!/usr/bin/env bash
# Runs other people's clients and checkers against the gateway that has been built, and the examples: every run.sh in tests/* and examples/*, or those of the folders
# named, such as tests/sdk or examples/go. A run.sh finds the
# gateway, which serves the demo network as it lives, at HELIOGRAPH_URL, and this repository at HELIOGRAPH_ROOT; it exits with 0, with 77 when it cannot be run
# on this machine, or as failed. All are run, whatever fails.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

work=$(mktemp -d)
chmod 755 "$work" # the database server may have a user of its own
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
  echo 'The gateway did not start:' >&2
  cat "$work/log" >&2
  exit 1
fi
HELIOGRAPH_ROOT=$PWD
export HELIOGRAPH_URL HELIOGRAPH_ROOT

[ $# -gt 0 ] || set -- tests/*/ examples/*/
failed=() skipped=()
for name in "$@"; do
  name=${name%/}
  [ -d "$name" ] || name=tests/$name
  [ -x "$name/run.sh" ] || continue
  echo "--- $name"
  "$name/run.sh" </dev/null
  case $? in
    0) echo "--- $name: ok" ;;
    77) echo "--- $name: cannot be run here" && skipped+=("$name") ;;
    *) echo "--- $name: FAILED" && failed+=("$name") ;;
  esac
done
[ ${#skipped[@]} -eq 0 ] || echo "Could not be run here: ${skipped[*]}"
if [ ${#failed[@]} -gt 0 ]; then
  echo "FAILED: ${failed[*]}. The gateway's log ends with:"
  tail -n 20 "$work/log"
  exit 1
fi
