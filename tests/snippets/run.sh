#!/usr/bin/env bash
# Type-checks and runs the code blocks of docs/clients.md, docs/subscriptions.md and docs/cookbook.md against the gateway at HELIOGRAPH_URL. Exits with 77
# if Node.js or Chromium is missing.
set -euo pipefail
cd "$(dirname "$0")"
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [ -z "$CHROMIUM" ]; then
  echo 'Chromium is not installed.' >&2
  exit 77
fi
export CHROMIUM
../npm-install.sh
exec node snippets.mjs
