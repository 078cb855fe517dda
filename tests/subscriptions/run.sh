#!/usr/bin/env bash
# Subscriptions over WebSocket and server-sent events, with the clients graphql-ws and graphql-sse, against the gateway at HELIOGRAPH_URL, whose network lives.
set -euo pipefail
cd "$(dirname "$0")"
../npm-install.sh
exec node --test --test-timeout=60000 subscriptions.test.mjs
