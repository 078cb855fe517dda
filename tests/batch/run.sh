#!/usr/bin/env bash
# Tests batches of operations with the batch link of Apollo Client, urql and graphql-request, against the gateway at HELIOGRAPH_URL.
set -euo pipefail
cd "$(dirname "$0")"
../npm-install.sh
exec node --test --test-timeout=60000 batch.test.mjs
