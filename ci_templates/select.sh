#!/bin/sh
# One CI job: bring the recorded history back, choose the tests of this change, print them best first.
# Used by github-actions.yml; any other CI can call it the same way.
#
#   SIMRT_HISTORY  the history file that the nightly job recorded (a cache or an artifact)
#   SIMRT_BASE     revision to compare with            (default: origin/main)
#   SIMRT_HEAD     revision under test                 (default: HEAD)
#   SIMRT_BUDGET   seconds of tests to list            (default: no limit)
#   SIMRT_OUT      directory for selection.{txt,json,names} (default: simrt-selection)
#
# Exit status: simrt's own; 0 also when there is no history yet (then every test should run, and the names
# file is absent).
set -eu
base=${SIMRT_BASE:-origin/main}
head=${SIMRT_HEAD:-HEAD}
out=${SIMRT_OUT:-simrt-selection}
mkdir -p "$out"
rm -f "$out"/selection.txt "$out"/selection.json "$out"/selection.names

if [ -z "${SIMRT_HISTORY:-}" ] || [ ! -s "$SIMRT_HISTORY" ]; then
  echo "simrt: no recorded history yet: run every test"
  exit 0
fi

set -- --db "$SIMRT_HISTORY" select --base "$base" --head "$head"
if [ -n "${SIMRT_BUDGET:-}" ]; then set -- "$@" --budget "$SIMRT_BUDGET"; fi

simrt "$@" --format json >"$out/selection.json"
simrt "$@" --format names >"$out/selection.names"
simrt "$@" --format text | tee "$out/selection.txt"
