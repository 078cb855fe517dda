#!/usr/bin/env bash
# Tests @defer with Apollo Client 3 and 4, urql and meros, against the gateway at HELIOGRAPH_URL.
set -euo pipefail
cd "$(dirname "$0")"
../npm-install.sh
exec node --test --test-timeout=60000 defer.test.mjs
