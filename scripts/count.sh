#!/usr/bin/env bash
# Counts the hand-written Go code of each package and fails if a package or a line is too long.
#
#   scripts/count.sh       prints the table, then the violations
#   scripts/count.sh -q    prints the violations only
#
# What counts:
#   - Go files of the product's module, committed or not, without those that git ignores. Folders with a go.mod of their own are other modules.
#   - Not generated files, which have a line "// Code generated … DO NOT EDIT." *.resolvers.go count: gqlgen writes their signatures, but the bodies are hand-written.
#   - All lines of these files, blank lines and comments included. The total of hand-written lines is that of the files which are not tests.
# Sources in other languages are listed below the table by kind, without front-end bundles (dist), generated documents and golden files.
#
# Limits (exit status 1):
#   - 35 hand-written files and 5,000 hand-written lines for each package, tests not counted.
#   - 120 columns for each line of a hand-written Go file and of the GraphQL schema. A tab has four columns. Exempt are texts that cannot be broken: struct
#     tags, compiler directives, signatures that gqlgen writes (*.resolvers.go), and raw strings of several lines.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C

quiet=0
[ "${1-}" != -q ] || quiet=1

# files PATTERN... lists the files of the repository that match, without deleted ones.
files() {
  git ls-files -co --exclude-standard -- "$@" | while IFS= read -r file; do [ ! -f "$file" ] || printf '%s\n' "$file"; done
}

# lines FILTER PATTERN... prints the number of lines of the files that match a pattern but not the filter.
lines() {
  local filter=$1
  shift
  files "$@" | { grep -Ev "$filter" || true; } | tr '\n' '\0' | xargs -0 cat /dev/null | wc -l | tr -d ' '
}

others=$(files '*/go.mod' | sed 's|/go.mod$|/|')
sources=$(files '*.go' | awk -v others="$others" '
  BEGIN { n = split(others, folder, "\n") }
  { for (i = 1; i <= n; i++) if (index($0, folder[i]) == 1) next; print }')

# shellcheck disable=SC2086 # names of Go files hold no blanks
awk -v quiet="$quiet" '
  # endsRaw reports whether the line ends inside a raw string.
  function endsRaw(line, raw,   at, c) {
    while (line != "") {
      if (raw) {
        at = index(line, "`")
        if (!at) return 1
        line = substr(line, at + 1)
        raw = 0
        continue
      }
      if (!match(line, /["`\047]|\/\//)) return 0
      c = substr(line, RSTART, 1)
      line = substr(line, RSTART)
      if (c == "/") return 0
      if (c == "`") raw = 1
      else if (c == "\"" && match(line, /^"([^"\\]|\\.)*"/) || c == "\047" && match(line, /^\047([^\047\\]|\\.)*\047/)) {
        line = substr(line, RLENGTH + 1)
        continue
      }
      line = substr(line, 2)
    }
    return raw
  }

  function columns(text) {
    gsub(/[\200-\277]/, "", text) # bytes after the first of a character
    gsub(/\t/, "    ", text)
    return length(text)
  }

  function violation(text) { violations = violations text "\n" }

  function finish() {
    if (file == "" || generated) return
    if (test) { testLines[folder] += n } else { count[folder]++; total[folder] += n }
    seen[folder] = 1
    violations = violations long
  }

  FNR == 1 {
    finish()
    file = FILENAME
    folder = file
    if (!sub(/\/[^\/]*$/, "", folder)) folder = "."
    test = file ~ /_test\.go$/
    bodies = file ~ /\.resolvers\.go$/
    generated = raw = n = 0
    long = ""
  }
  !bodies && /^\/\/ Code generated .* DO NOT EDIT\.?$/ { generated = 1 }
  generated { next }
  {
    n++
    wide = columns($0) > 120
    if (index($0, "`") || raw || wide) {
      inside = raw
      raw = endsRaw($0, raw)
      if (wide && !inside && !raw) {
        if (/^\/\/go:/ || /^[\t ]*[A-Za-z_].*`[a-z-]+:".*"`$/ && !inside || bodies && /^func \(r \*[A-Za-z]+\) /) next
        long = long file ":" FNR ": " columns($0) " columns\n"
      }
    }
  }

  END {
    finish()
    if (!quiet) printf "%-46s %6s %7s %7s %6s\n", "package", "files", "lines", "tests", "ratio"
    fflush()
    sort = "sort"
    for (folder in seen) {
      if (!quiet) printf "%-46s %6d %7d %7d %6s\n", folder, count[folder], total[folder], testLines[folder], total[folder] ? sprintf("%.2f", testLines[folder] / total[folder]) : "-" | sort
      files += count[folder]
      lines += total[folder]
      tests += testLines[folder]
      if (count[folder] > 35) violation(folder ": " count[folder] " hand-written files, at most 35")
      if (total[folder] > 5000) violation(folder ": " total[folder] " hand-written lines, at most 5000")
    }
    close(sort)
    if (!quiet) printf "%-46s %6d %7d %7d %6.2f\n", "total", files, lines, tests, tests / lines
    printf "%s", violations > "/dev/stderr"
    exit violations != ""
  }' $sources || failed=1

long=$(files 'graph/schema/*.graphqls' | xargs awk '
  { line = $0; gsub(/[\200-\277]/, "", line) } # as above
  length(line) > 120 { print FILENAME ":" FNR ": " length(line) " columns" }')
if [ -n "$long" ]; then
  printf '%s\n' "$long" >&2
  failed=1
fi

if [ "$quiet" = 0 ]; then
  printf '\n%s\n' 'Lines in other languages:'
  printf '  %-40s %6d\n' \
    'GraphQL schema' "$(lines '^$' 'graph/schema/*.graphqls')" \
    'GraphQL documents' "$(lines '^graph/|/dist/|/testdata/' '*.graphql')" \
    'SQL' "$(lines '/testdata/' '*.sql')" \
    'Solidity' "$(lines '^$' '*.sol')" \
    'JavaScript, TypeScript' "$(lines '/dist/|/testdata/' '*.js' '*.mjs' '*.jsx' '*.ts' '*.tsx')" \
    'HTML, CSS' "$(lines '/dist/|/testdata/' '*.html' '*.css')" \
    'Templates of generated Go' "$(lines '^$' '*.gotpl')" \
    'Script of the demo network' "$(lines '^$' 'storage/demo/scenario/*.txt')" \
    'Shell, make' "$(lines '^$' '*.sh' Makefile .ci/run)" \
    'Markdown' "$(lines '^docs/rest-to-graphql.md$' '*.md')"
fi
exit "${failed-0}"
