#!/usr/bin/env bash
# Tests subscriptions over WebSocket and server-sent events with the clients graphql-ws and graphql-sse. The gateway at HELIOGRAPH_URL must run the live demo network.
set -euo pipefail
cd "$(dirname "$0")"
../npm-install.sh
exec node --test --test-timeout=60000 subscriptions.test.mjs
