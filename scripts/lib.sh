# shellcheck shell=bash
# What the scripts of this folder share. It is sourced, and works with the bash 3.2 that macOS ships.

say() { printf '%s\n' "$*" >&2; }

# as_root runs a command with root's rights, and fails at once where that would need a password.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  else
    sudo -n "$@"
  fi
}

may_install() {
  [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; }
}

# package_manager prints the name of the first package manager that may be used, or fails. Homebrew refuses root, and
# needs no rights.
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

# install_packages MANAGER NAME... installs packages by the names that this manager knows. Its output goes to standard
# error, as progress.
install_packages() {
  local manager=$1
  shift
  say "Installing $* with $manager."
  case $manager in
    apt-get)
      # An older list of packages may do where one of the machine's sources does not answer.
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
