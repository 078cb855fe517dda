#!/usr/bin/env bash
# Checks the OpenAPI documents of the gateway at HELIOGRAPH_URL with Redocly and Spectral, without any error or warning, and generates and compiles clients
# in TypeScript (openapi-typescript) and Go (oapi-codegen). The Go client sends a request to each API.
set -euo pipefail
cd "$(dirname "$0")"
../npm-install.sh
rm -rf generated
mkdir -p generated/v1 generated/v2
for version in v1 v2; do
  folder=generated/$version
  node -e 'fetch(process.argv[1]).then((r) => r.text()).then((text) => process.stdout.write(text))' \
    "$HELIOGRAPH_URL/api/$version/docs/openapi.json" >"$folder/openapi.json"
  npx --no-install spectral lint --quiet --fail-severity=hint "$folder/openapi.json"
  npx --no-install redocly lint --max-problems=20 "$folder/openapi.json" >"$folder/lint.log" 2>&1 || { cat "$folder/lint.log"; exit 1; }
  if grep -E '[0-9]+ warning|Warning was' "$folder/lint.log"; then
    cat "$folder/lint.log"
    exit 1
  fi
  npx --no-install openapi-typescript "$folder/openapi.json" -o "$folder/api.ts" >/dev/null
  CGO_ENABLED=0 go tool oapi-codegen -generate types,client -package "$version" -o "$folder/api.gen.go" "$folder/openapi.json"
done
npx --no-install tsc --strict --noEmit --module nodenext --target es2022 --allowImportingTsExtensions client.ts
CGO_ENABLED=0 go run .
