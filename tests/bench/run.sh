#!/usr/bin/env bash
# ./dev bench [NAME...] [--quick] [--json]: all benchmarks in one go, or those named. See run.py.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec python3 "$here/run.py" "$@"
