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

# Beside dist/, dist.sum keeps the hashes of the sources it was built from, so that a test can tell when it is stale.
node --input-type=module -e '
  import { createHash } from "node:crypto";
  import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
  import { join } from "node:path";
  import { constants, gzipSync } from "node:zlib";

  const filesOf = (folder) => readdirSync(folder, { recursive: true }).filter((name) => statSync(join(folder, name)).isFile());

  for (const name of filesOf("../dist")) {
    const file = join("../dist", name);
    const packed = gzipSync(readFileSync(file), { level: constants.Z_BEST_COMPRESSION });
    // zlib writes no name and no time into the header, but the platform, which has no say here.
    packed[9] = 255;
    writeFileSync(`${file}.gz`, packed);
    rmSync(file);
  }

  const sums = filesOf(".")
    .filter((name) => !/^(node_modules|examples)\//.test(name))
    .sort()
    .map((name) => `${createHash("sha256").update(readFileSync(name)).digest("hex")}  ${name}\n`);
  writeFileSync("../dist.sum", sums.join(""));
'
