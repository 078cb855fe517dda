#!/usr/bin/env bash
# Installs HAProxy if it is missing and the package manager permits it.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

PATH=$PATH:/usr/sbin
if ! command -v haproxy >/dev/null 2>&1; then
  manager=$(package_manager) || { say 'HAProxy is not installed.'; exit 1; }
  install_packages "$manager" haproxy
fi
