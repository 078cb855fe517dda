# shellcheck shell=bash
# Runs the steps of CI, one after the other, and prints a table of their times. Source this file in the root of the
# repository.

exec </dev/null
export CI=true
failed=()
table=''

# step NAME COMMAND... runs a step and continues if it fails.
step() {
  local name=$1 start=$SECONDS result=ok
  shift
  printf '\n=== %s: %s\n' "$name" "$*"
  "$@" || { result=FAILED failed+=("$name"); }
  printf '=== %s: %s after %d s\n' "$name" "$result" $((SECONDS - start))
  table+=$(printf '%-12s %6d s  %s' "$name" $((SECONDS - start)) "$result")$'\n'
}

# required NAME COMMAND... is a step whose failure ends the run.
required() {
  step "$@"
  [ ${#failed[@]} -eq 0 ] || finish
}

# finish prints the table, and exits with 1 if a step failed.
finish() {
  printf '\n=== steps\n%s%-12s %6d s\n' "$table" all "$SECONDS"
  if [ ${#failed[@]} -gt 0 ]; then
    echo "=== FAILED: ${failed[*]}"
    exit 1
  fi
  echo '=== all steps passed'
  exit 0
}
