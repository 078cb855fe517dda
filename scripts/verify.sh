#!/usr/bin/env bash
# Fails when what the repository holds is not what its generators, `go mod tidy` and gofmt make of it. Changes that are
# not committed yet do not matter: the tree is compared with itself before and after. ASSETS=off leaves out the front-end
# assets, whose build needs Node.js.
set -euo pipefail
cd "$(dirname "$0")/.."

index=$(mktemp)
trap 'rm -f "$index"' EXIT

# snapshot stores the working tree as a git tree, with an index of its own, and prints the tree's name.
snapshot() {
  cp "$(git rev-parse --git-path index)" "$index"
  GIT_INDEX_FILE=$index git add -A
  GIT_INDEX_FILE=$index git write-tree
}

failed=0
before=$(snapshot)
make --no-print-directory generate ASSETS="${ASSETS-on}"
after=$(snapshot)
if [ "$before" != "$after" ]; then
  echo 'Generated files were not up to date. Generating them has changed:' >&2
  git --no-pager diff --stat "$before" "$after" >&2
  failed=1
fi
if ! go mod tidy -diff; then
  echo 'go.mod or go.sum is not tidy: run go mod tidy.' >&2
  failed=1
fi
unformatted=$(git ls-files -co --exclude-standard '*.go' | while IFS= read -r file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done | xargs -0 gofmt -l)
if [ -n "$unformatted" ]; then
  printf 'gofmt wants to change:\n%s\n' "$unformatted" >&2
  failed=1
fi
[ "$failed" = 0 ] && echo 'Generated files, go.mod and the format are up to date.'
