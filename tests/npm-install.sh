#!/usr/bin/env bash
# Installs what the lock file of the folder it is called in names, unless it is there already. Exits with 77 where there is no Node.js.
set -euo pipefail
if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
  echo 'Node.js is not installed.' >&2
  exit 77
fi
if ! cmp -s package-lock.json node_modules/.installed; then
  npm ci --ignore-scripts --loglevel=error
  cp package-lock.json node_modules/.installed
fi
