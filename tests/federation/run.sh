#!/usr/bin/env bash
# Tests the gateway at HELIOGRAPH_URL as a subgraph of an Apollo federation.
set -euo pipefail
cd "$(dirname "$0")"
../npm-install.sh
exec node compose.mjs
