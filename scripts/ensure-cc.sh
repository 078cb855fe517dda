#!/usr/bin/env bash
# Makes sure that a C compiler is there, which only the race detector needs. Fails when there is none.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

# find_compiler looks for what cgo would run.
find_compiler() {
  local compiler
  compiler=$(go env CC)
  command -v "${compiler%% *}" >/dev/null 2>&1 || return 1
  printf '#include <stdlib.h>\n' | $compiler -E - >/dev/null 2>&1 # a compiler without the C library's headers is no use
}

if find_compiler; then
  exit
fi
if manager=$(package_manager); then
  case $manager in
    apt-get) packages='gcc libc6-dev' ;;
    apk) packages='gcc musl-dev' ;;
    *) packages=gcc ;;
  esac
  # shellcheck disable=SC2086 # a list of names
  if install_packages "$manager" $packages && find_compiler; then
    exit
  fi
fi
exit 1
