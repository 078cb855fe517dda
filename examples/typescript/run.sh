#!/usr/bin/env bash
# Generates the types of the queries, type-checks the program, and runs it against the gateway at HELIOGRAPH_URL.
set -euo pipefail
cd "$(dirname "$0")"
../../tests/npm-install.sh
npm run --silent codegen
output=$(npm run --silent start)
echo "$output"
grep -q '^0.0.1001 (Alice' <<<"$output"
