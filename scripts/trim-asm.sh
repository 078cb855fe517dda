#!/usr/bin/env bash
# A -toolexec program of `go build -trimpath`: trim-asm.sh MODULE_CACHE TOOL ARGUMENTS…
# With -trimpath, Go removes the folder of a package from the names of its assembler files, but not from those of files that they include from other
# packages. This program also removes the module cache from them, so that the binary does not depend on its folder.
set -euo pipefail
cache=$1 tool=$2
shift 2
if [ "$(basename "$tool")" != asm ]; then
  exec "$tool" "$@"
fi
if [ "$*" = -V=full ]; then
  # The version is part of the key of the build cache: results of builds without this program are not used.
  "$tool" -V=full | sed 's/$/ trimmed/'
  exit
fi
args=() last=''
for arg in "$@"; do
  [ "$last" != -trimpath ] || arg="$arg;$cache"
  args+=("$arg") last=$arg
done
exec "$tool" "${args[@]}"
