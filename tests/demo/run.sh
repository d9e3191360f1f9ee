#!/usr/bin/env bash
# ./dev demo: the HM example of the SimRT paper, from an empty directory to the ordered list with reasons.
# Usage: run.sh BUILD_DIRECTORY
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "$1" && pwd)
simrt=$build/bin/simrt
work=$(mktemp -d "${TMPDIR:-/tmp}/simrt-demo.XXXXXX")
trap 'rm -rf "$work"' EXIT
export GIT_AUTHOR_NAME=demo GIT_AUTHOR_EMAIL=demo@example.org GIT_COMMITTER_NAME=demo GIT_COMMITTER_EMAIL=demo@example.org
export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'

say() { printf '\n$ %s\n' "$*"; }

cp -r "$here/fixtures/hm/base/." "$work"
cd "$work"
git init -q -b main
printf '/build*/\n.simrt/\n.simrt.toml\n' >.git/info/exclude
git add -A
git commit -q -m 'The hash map of the paper'

say 'cmake -B build-simrt --toolchain $(simrt toolchain) && cmake --build build-simrt'
cmake -B build-simrt -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER_LAUNCHER= -DCMAKE_CXX_COMPILER_LAUNCHER= \
  --toolchain "$("$simrt" toolchain)" >/dev/null
cmake --build build-simrt | tail -n 1
say 'simrt init'
"$simrt" init | sed "s#$work#.#g"
say 'simrt record'
"$simrt" -q record | sed -E 's/ in [0-9.]+ s:/:/'

git apply --index "$here/fixtures/hm/change.patch"
git commit -q -m 'containsValue(null) searches; clear() counts'
say 'git show --stat HEAD'
git show --stat --format=%s HEAD
say 'simrt select --order pairs'
"$simrt" -q select --order pairs
say 'simrt why-not tc4'
"$simrt" -q why-not tc4 --order pairs
