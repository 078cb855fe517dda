#!/usr/bin/env bash
# Two clients of the common status-page API read the status page of the gateway at HELIOGRAPH_URL.
set -euo pipefail
cd "$(dirname "$0")"
../npm-install.sh
exec node read.mjs
