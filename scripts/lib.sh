# shellcheck shell=bash
# Functions shared by the scripts in this folder. Source this file. It works with bash 3.2, the version on macOS.

say() { printf '%s\n' "$*" >&2; }

# as_root runs a command as root. It fails if sudo requires a password.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  else
    sudo -n "$@"
  fi
}

# may_install reports whether as_root works.
may_install() {
  [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; }
}

# package_manager prints the name of the package manager to use. It fails if there is none or if it requires a password. Homebrew
# does not run as root and does not need to.
package_manager() {
  local name
  if may_install; then
    for name in apt-get dnf apk pacman; do
      if command -v "$name" >/dev/null 2>&1; then
        echo "$name"
        return
      fi
    done
  fi
  if [ "$(id -u)" != 0 ] && command -v brew >/dev/null 2>&1; then
    echo brew
    return
  fi
  return 1
}

# install_packages MANAGER NAME... installs packages and writes the manager's output to standard error.
install_packages() {
  local manager=$1
  shift
  say "Installing $* with $manager."
  case $manager in
    apt-get)
      # If the update fails because a package source is unavailable, the existing package lists may be sufficient.
      as_root apt-get update -qq </dev/null >&2 || true
      as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
        -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 "$@" </dev/null >&2
      ;;
    dnf) as_root dnf install -y "$@" </dev/null >&2 ;;
    apk) as_root apk add "$@" </dev/null >&2 ;;
    pacman) as_root pacman -Sy --noconfirm --needed "$@" </dev/null >&2 ;;
    brew) brew install "$@" </dev/null >&2 ;;
    *) return 1 ;;
  esac
}

# base_of LOG prints the base URL of a gateway from its log, or nothing before it listens.
base_of() { sed -n 's|.*"msg":"listening","address":"\([^"]*\)".*|http://\1|p' "$1"; }
