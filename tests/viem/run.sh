#!/usr/bin/env bash
# Lets viem, a client library of EVM networks, read and simulate calls of contracts at the gateway at HELIOGRAPH_URL.
set -euo pipefail
cd "$(dirname "$0")"
../npm-install.sh
exec node --test --test-reporter=spec contracts.mjs
