#!/usr/bin/env bash
# Compiles packages, and prints progress while that takes long. The modules are downloaded while the standard library
# is compiled.
#
#   build.sh [--with-postgres] [-o FILE] PACKAGE…
#     --with-postgres  also runs ensure-postgres.sh, at the same time
#     -o FILE          writes the binary of the package, with LDFLAGS from the environment
set -euo pipefail
cd "$(dirname "$0")/.."

postgres=''
if [ "${1-}" = --with-postgres ]; then
  postgres=$(mktemp)
  scripts/ensure-postgres.sh >"$postgres" 2>&1 &
  setup=$!
  shift
fi
export CGO_ENABLED=0
flags=(-trimpath -buildvcs=false) # as in the Makefile, also without make
[ "${1-}" != -o ] || flags+=(-ldflags "${LDFLAGS-}")

# Packages of the standard library that import most others that the gateway needs.
go build "${flags[@]}" net/http/pprof html/template encoding/xml go/format compress/zlib encoding/csv math/big \
  >/dev/null 2>&1 &
standard=$!
packages=("$@")
[ "${1-}" != -o ] || packages=("${@:3}")

# progress prints the lines of the go command in a short form: every 25th package and every 10th module, and everything
# else.
progress() {
  awk -v total="$1" '
    /^go: downloading / { if (++modules % 10 == 0) { print "  downloaded " modules " modules"; fflush() } next }
    /^[^ :]+$/ { if (++done % 25 == 0) { print "  compiled " done " of at most " total " packages"; fflush() } next }
    { print; fflush() }' >&2
}

# Without a file to write, main packages are not linked.
format='{{.ImportPath}} {{and .Module .Module.Main (ne .Name "main") (gt (len .GoFiles) 0)}}'
imported=$(go list -deps -f "$format" "${packages[@]}" 2> >(progress 0))
total=$(wc -l <<<"$imported")
if [ "${1-}" != -o ]; then
  read -r -d '' -a packages < <(awk '$2 == "true" { print $1 }' <<<"$imported") || true
  set -- "${packages[@]}"
fi
wait "$standard" || true # the next command reports the error
result=0
if [ $# -gt 0 ]; then # a package may consist of tests only
  go build -v "${flags[@]}" "$@" 2>&1 | progress "$((total))" || result=1
fi
if [ -n "$postgres" ]; then
  wait "$setup" || result=1
  cat "$postgres" >&2
  rm -f "$postgres"
fi
exit "$result"
