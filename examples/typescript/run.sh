#!/usr/bin/env bash
# Makes the types of the queries, checks the program with them, and runs it against the gateway at HELIOGRAPH_URL.
set -euo pipefail
cd "$(dirname "$0")"
../../tests/npm-install.sh
npm run --silent codegen
told=$(npm run --silent start)
echo "$told"
grep -q '^0.0.1001 (Alice' <<<"$told"
