#!/usr/bin/env bash
# Makes the client anew, checks that it is what is committed, and runs it against the gateway at HELIOGRAPH_URL.
set -euo pipefail
cd "$(dirname "$0")"
before=$(sha256sum generated.go)
go generate ./...
if [ "$before" != "$(sha256sum generated.go)" ]; then
  echo 'generated.go was not up to date; it is now.' >&2
  exit 1
fi
go vet ./...
told=$(go run .)
echo "$told"
grep -q '#30 ' <<<"$told"
