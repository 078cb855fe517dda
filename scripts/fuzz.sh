#!/usr/bin/env bash
# Runs all fuzz targets, one after the other, each for TIME. Fails if one of them fails.
#   fuzz.sh [TIME]     a Go duration, for example 30s; default: 10s
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-10s}

# Build only packages with fuzz targets, and list the targets with the test binary.
packages=$(git ls-files -co --exclude-standard '*_test.go' | { xargs grep -l '^func Fuzz' || true; } | xargs -n 1 dirname | sort -u)
count=0 failed=0
for package in $packages; do
  names=$(go test -list '^Fuzz' "./$package")
  while IFS= read -r target; do
    count=$((count + 1))
    echo "== $target in ./$package, $time"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 10s "./$package" </dev/null || failed=$((failed + 1))
  done < <(awk '/^Fuzz/' <<<"$names")
done
echo "$count fuzz targets, $failed failed"
[ "$failed" = 0 ]
