#!/usr/bin/env bash
# Runs the program against the gateway at HELIOGRAPH_URL. `make generate` generates its client, and `make verify` checks it.
set -euo pipefail
cd "$(dirname "$0")"
go vet ./...
output=$(go run .)
echo "$output"
grep -q '#30 ' <<<"$output"
