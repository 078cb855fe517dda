#!/usr/bin/env bash
# Runs the audits of the GraphQL over HTTP specification against the gateway at HELIOGRAPH_URL.
set -euo pipefail
cd "$(dirname "$0")"
../npm-install.sh
exec node audit.mjs
