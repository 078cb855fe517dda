#!/usr/bin/env bash
# Ensures that a C compiler is installed, which the race detector needs. Installs one if permitted, otherwise fails.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

# find_compiler checks the compiler that cgo would use.
find_compiler() {
  local compiler
  compiler=$(go env CC)
  command -v "${compiler%% *}" >/dev/null 2>&1 || return 1
  printf '#include <stdlib.h>\n' | $compiler -E - >/dev/null 2>&1 # fails if the headers of the C library are missing
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
