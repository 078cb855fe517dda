#!/usr/bin/env bash
# Makes sure that the browser tests find Chromium on the PATH; installs it with the system's package manager when allowed.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

# find_browser looks for the names that app/testing/webtest knows, in its order.
find_browser() {
  local name
  for name in chromium chromium-browser google-chrome; do
    # Some systems have a program of that name which only says what to install.
    if command -v "$name" >/dev/null 2>&1 && "$name" --version >/dev/null 2>&1; then
      say "$name is in $(command -v "$name")."
      return
    fi
  done
  return 1
}

if find_browser; then
  exit
fi
if manager=$(package_manager) && [ "$manager" != brew ] && install_packages "$manager" chromium && find_browser; then
  exit
fi
say "No Chromium was found, and none could be installed. Put chromium, chromium-browser or google-chrome on the PATH."
exit 1
