#!/usr/bin/env bash
# Lets the Go SDK of the network, in a module of its own, ask the gateway at HELIOGRAPH_URL. The SDK insists on the ports 8084 and
# 8545.
set -euo pipefail
cd "$(dirname "$0")"
CGO_ENABLED=0 go test -count=1 -timeout 5m ./...
