#!/usr/bin/env bash
# Reads the status page of the gateway at HELIOGRAPH_URL with two clients of the common status page API.
set -euo pipefail
cd "$(dirname "$0")"
../npm-install.sh
exec node read.mjs
