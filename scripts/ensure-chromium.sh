#!/usr/bin/env bash
# Ensures that Chromium is on the PATH for the browser tests. Installs it with the system's package manager if permitted.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

# find_browser searches for the same names as tests/browser/webtest, in the same order.
find_browser() {
  local name
  for name in chromium chromium-browser google-chrome; do
    # Some systems have a placeholder with this name that only prints how to install the browser.
    if command -v "$name" >/dev/null 2>&1 && "$name" --version >/dev/null 2>&1; then
      say "Found $name: $(command -v "$name")"
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
say "Chromium was not found and could not be installed. Add chromium, chromium-browser or google-chrome to the PATH."
exit 1
