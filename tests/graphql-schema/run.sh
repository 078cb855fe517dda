#!/usr/bin/env bash
# Checks the schema of the gateway at HELIOGRAPH_URL with graphql-eslint and Relay's compiler.
set -euo pipefail
cd "$(dirname "$0")"
../npm-install.sh
node -e 'fetch(process.argv[1]).then((r) => r.text()).then((t) => process.stdout.write(t))' "$HELIOGRAPH_URL/graphql/schema.graphql" >schema.graphql
npx --no-install eslint --max-warnings 0 schema.graphql
node relay.mjs
npx --no-install relay-compiler
