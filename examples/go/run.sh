#!/usr/bin/env bash
# Generates the client, checks that the committed one is up to date, and runs the program against the gateway at HELIOGRAPH_URL.
set -euo pipefail
cd "$(dirname "$0")"
before=$(sha256sum generated.go)
go generate ./...
if [ "$before" != "$(sha256sum generated.go)" ]; then
  echo 'generated.go was not up to date. It has been updated.' >&2
  exit 1
fi
go vet ./...
output=$(go run .)
echo "$output"
grep -q '#30 ' <<<"$output"
