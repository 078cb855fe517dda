#!/usr/bin/env bash
# Rebuilds the committed front-end assets with each build.sh in app/web. Does nothing if Node.js is not installed, because it is
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
for build in app/web/*/build.sh; do
  [ -e "$build" ] || continue
  echo "Running $build"
  "$build"
done
