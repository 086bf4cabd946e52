#!/bin/sh
# demo-test.sh: runs the demo as a user would and checks its last line. The demo itself
# fails if it leaves anything behind.
set -eu
out=$(mktemp)
trap 'rm -f "$out"' EXIT
make --no-print-directory demo >"$out" 2>&1 || { cat "$out"; echo "demo-test: the demo failed" >&2; exit 1; }
cat "$out"
[ "$(tail -n 1 "$out")" = 'demo: 7 swaps, 5 filled, 1 refunded, 0 failed, 1 received as reported' ] || { echo "demo-test: the last line is not as expected" >&2; exit 1; }
