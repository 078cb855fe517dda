#!/usr/bin/env bash
# Compiles the queries, type-checks all clients, and tests the pages in Chromium against the gateway at HELIOGRAPH_URL. Exits with 77 if Chromium is missing.
set -euo pipefail
cd "$(dirname "$0")"
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [ -z "$CHROMIUM" ]; then
  echo 'Chromium is not installed.' >&2
  exit 77
fi
export CHROMIUM
../../tests/npm-install.sh
npm run --silent generate
npm run --silent check
npm run --silent build -- --logLevel warn
exec node check.mjs
