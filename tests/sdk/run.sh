#!/usr/bin/env bash
# Tests the gateway at HELIOGRAPH_URL with the network's Go SDK, in a separate module. The SDK always uses the ports 8084 and 8545.
set -euo pipefail
cd "$(dirname "$0")"
CGO_ENABLED=0 go test -count=1 -timeout 5m ./...
