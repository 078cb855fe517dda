#!/usr/bin/env bash
# Prints the path of PgBouncer: HELIOGRAPH_TEST_PGBOUNCER, or the installed one. Installs it if it is missing and the package manager permits it.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

PATH=$PATH:/usr/sbin
if [ -n "${HELIOGRAPH_TEST_PGBOUNCER-}" ]; then
  echo "$HELIOGRAPH_TEST_PGBOUNCER"
  exit
fi
if ! command -v pgbouncer >/dev/null 2>&1; then
  manager=$(package_manager) || { say 'PgBouncer is not installed.'; exit 1; }
  install_packages "$manager" pgbouncer
fi
command -v pgbouncer
