#!/usr/bin/env bash
# The gateway at HELIOGRAPH_URL as a part of a federation of graphs.
set -euo pipefail
cd "$(dirname "$0")"
../npm-install.sh
exec node compose.mjs
