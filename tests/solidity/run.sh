#!/usr/bin/env bash
# Compiles the demo network's contracts and compares the outcome with what is checked in. Needs no gateway.
set -euo pipefail
cd "$(dirname "$0")"
../npm-install.sh
NODE_PATH=$PWD/node_modules exec node ../../storage/demo/contracts/compile.js --check
