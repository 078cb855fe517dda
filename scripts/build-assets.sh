#!/bin/sh
# Usage: build-assets.sh FOLDER NAME [EXCLUDED]
# Rebuilds FOLDER/dist from FOLDER/src: installs the packages of package-lock.json, bundles, and stores every file as brotli only. NAME is the name of the
# application for error messages. EXCLUDED is a folder of src that is not part of the build.
# The result depends only on the sources and the lock file, so that unchanged sources give an unchanged dist.
set -eu
cd "$1/src"

for tool in node npm; do
  if ! command -v "$tool" >/dev/null 2>&1; then
    echo "build-assets.sh: $tool is not installed; building $2 requires Node.js 20.19 or newer and npm" >&2
    exit 1
  fi
done

npm ci
npx --no-install vite build

# dist.sum has the hashes of the sources of dist, so that a test can detect an outdated dist.
EXCLUDED="${3-}" node --input-type=module -e '
  import { createHash } from "node:crypto";
  import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
  import { join } from "node:path";
  import { brotliCompressSync, constants } from "node:zlib";

  const filesOf = (folder) => readdirSync(folder, { recursive: true }).filter((name) => statSync(join(folder, name)).isFile());

  for (const name of filesOf("../dist")) {
    const file = join("../dist", name);
    const content = readFileSync(file);
    const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
    writeFileSync(`${file}.br`, brotliCompressSync(content, { params }));
    rmSync(file);
  }

  const excluded = ["node_modules", process.env.EXCLUDED].filter(Boolean);
  const sums = filesOf(".")
    .filter((name) => !excluded.includes(name.split("/")[0]))
    .sort()
    .map((name) => `${createHash("sha256").update(readFileSync(name)).digest("hex")}  ${name}\n`);
  writeFileSync("../dist.sum", sums.join(""));
'
