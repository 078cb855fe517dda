#!/usr/bin/env bash
# Runs the console blocks of the documents against the gateway at HELIOGRAPH_URL, and compares their output.
set -euo pipefail
cd "$(dirname "$0")"
command -v node >/dev/null || { echo 'Node.js is not installed.' >&2; exit 77; }
exec node blocks.mjs
