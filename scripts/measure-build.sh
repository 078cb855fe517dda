#!/usr/bin/env bash
# Measures what a new user waits for: builds bin/heliograph with empty caches, and lists what is downloaded (MB) and
# compiled (seconds of CPU).
#
#   scripts/measure-build.sh [-m]     -m uses the module cache of the user, and downloads nothing
set -euo pipefail
cd "$(dirname "$0")/.."

tmp=$(mktemp -d)
cleanup() {
  chmod -R u+w "$tmp" # the module cache is read-only
  rm -rf "$tmp"
}
trap cleanup EXIT
export CGO_ENABLED=0 GOCACHE=$tmp/cache
if [ "${1-}" != -m ]; then
  export GOMODCACHE=$tmp/modules
  go list -deps ./cmd/heliograph >/dev/null 2>&1
  echo 'Downloaded, MB:'
  (cd "$GOMODCACHE/cache/download" && find . -name '*.zip' -exec wc -c {} \;) | sort -rn | awk '
    { total += $1 }
    NR <= 15 { sub(/\.\//, ""); sub("/@v/", " "); sub(/\.zip$/, ""); printf "%8.1f  %s %s\n", $1 / 1e6, $2, $3 }
    END { printf "%8.1f  all %d modules\n", total / 1e6, NR }'
fi
go build -trimpath -buildvcs=false -ldflags '-s -w' -debug-actiongraph="$tmp/actions" -o "$tmp/heliograph" \
  ./cmd/heliograph
echo 'Compiled and linked, seconds of CPU:'
awk '
  function add() {
    if (name != "" && cpu > 0) printf "%8.1f  %s%s\n", cpu, name, mode == "link" ? " (link)" : ""
    name = mode = ""
    cpu = 0
  }
  /^\t\t"ID":/ { add() }
  /^\t\t"Mode":/ { mode = $2; gsub(/[",]/, "", mode) }
  /^\t\t"Package":/ { name = $2; gsub(/[",]/, "", name) }
  /^\t\t"Cmd(User|Sys)":/ { cpu += $2 / 1e9 }
  END { add() }' "$tmp/actions" | sort -rn | awk '
    { total += $1 }
    NR <= 25 { print }
    END { printf "%8.1f  all %d steps\n", total, NR }'
