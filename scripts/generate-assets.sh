#!/usr/bin/env bash
# Rebuilds the committed front-end assets from their sources: each build.sh below app/web. They are left as they are
# where Node.js is missing, since only those who change them need it, or when the argument is "off".
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1-on}" = off ]; then
  echo 'The front-end assets are left as they are.'
  exit
fi
if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
  echo 'Node.js is not installed: the front-end assets are left as they are.'
  exit
fi
for build in app/web/*/build.sh; do
  [ -e "$build" ] || continue
  echo "Running $build"
  "$build"
done
