#!/usr/bin/env bash
# Compiles the contracts of the demo network and compares the result with the committed files. Does not use the gateway.
set -euo pipefail
cd "$(dirname "$0")"
../npm-install.sh
NODE_PATH=$PWD/node_modules exec node ../../storage/demo/contracts/compile.js --check
