#!/bin/sh
# Rebuilds dist/ from src/: installs exactly what package-lock.json names, bundles, and keeps every file as gzip only.
# The result depends on the sources and the lock file alone, so that an unchanged source gives an unchanged dist/.
set -eu
cd "$(dirname "$0")/src"

for tool in node npm; do
  if ! command -v "$tool" >/dev/null 2>&1; then
    echo "build.sh: $tool is not installed; building GraphiQL needs Node.js 20.19 or newer and npm" >&2
    exit 1
  fi
done

npm ci
npx --no-install vite build

# zlib writes no name and no time into the header, and marks the platform alike everywhere.
node --input-type=module -e '
  import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
  import { join } from "node:path";
  import { constants, gzipSync } from "node:zlib";

  for (const name of readdirSync("../dist", { recursive: true })) {
    const file = join("../dist", name);
    if (!statSync(file).isFile()) {
      continue;
    }
    const packed = gzipSync(readFileSync(file), { level: constants.Z_BEST_COMPRESSION });
    packed[9] = 255;
    writeFileSync(`${file}.gz`, packed);
    rmSync(file);
  }
'
