#!/usr/bin/env bash
# Tests contract calls at the gateway at HELIOGRAPH_URL with viem, a client library for EVM networks.
set -euo pipefail
cd "$(dirname "$0")"
../npm-install.sh
exec node --test --test-reporter=spec contracts.mjs
