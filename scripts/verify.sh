#!/usr/bin/env bash
# Fails if generated files, go.mod or the formatting are not up to date. Compares the working tree before and after the
# generators run, so that uncommitted changes are allowed. ASSETS=off skips the front-end assets, which need Node.js.
set -euo pipefail
cd "$(dirname "$0")/.."

index=$(mktemp)
trap 'rm -f "$index"' EXIT

# snapshot stores the working tree as a git tree with a temporary index, and prints the hash of the tree.
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
  echo 'Generated files were not up to date. These files were changed:' >&2
  git --no-pager diff --stat "$before" "$after" >&2
  failed=1
fi
go test -tags verify ./graph/generate || failed=1
while IFS= read -r module; do
  if ! go -C "$(dirname "$module")" mod tidy -diff; then
    echo "$module or its go.sum is not up to date: run go mod tidy in its folder." >&2
    failed=1
  fi
done < <(git ls-files -co --exclude-standard go.mod '*/go.mod')
unformatted=$(git ls-files -co --exclude-standard '*.go' | while IFS= read -r file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done | xargs -0 gofmt -l)
if [ -n "$unformatted" ]; then
  printf 'Not formatted with gofmt:\n%s\n' "$unformatted" >&2
  failed=1
fi
[ "$failed" = 0 ] && echo 'Generated files, go.mod and formatting are up to date.'
