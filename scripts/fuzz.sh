#!/usr/bin/env bash
# Runs each fuzz target for the time given, one after the other, and fails when one of them does.
#   fuzz.sh [TIME]     a duration such as 30s; 10s by default
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-10s}

# Only packages that seem to have targets are built; the test binary then tells their names.
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
