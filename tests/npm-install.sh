#!/usr/bin/env bash
# Installs the npm packages of the current folder from its lock file, unless they are installed. Exits with 77 if Node.js is missing.
set -euo pipefail
if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
  echo 'Node.js is not installed.' >&2
  exit 77
fi
if ! cmp -s package-lock.json node_modules/.installed; then
  npm ci --ignore-scripts --loglevel=error
  cp package-lock.json node_modules/.installed
fi
