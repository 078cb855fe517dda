#!/usr/bin/env bash
# Rebuilds the committed front-end assets with build-assets.sh. Does nothing if Node.js is not installed, because it is
# only needed to change the assets, or if the argument is "off".
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1-on}" = off ]; then
  echo 'Skipping the front-end assets.'
  exit
fi
if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
  echo 'Node.js is not installed. Skipping the front-end assets.'
  exit
fi
scripts/build-assets.sh app/web/apidocs 'the API docs'
scripts/build-assets.sh app/web/graphiql GraphiQL examples
