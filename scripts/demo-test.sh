#!/bin/sh
# demo-test.sh: runs the demo as a user would and checks what it promises: its
# last line, and that nothing is left running.
set -eu
out=$(mktemp)
trap 'rm -f "$out"' EXIT
make --no-print-directory demo >"$out" 2>&1 || { cat "$out"; echo "demo-test: the demo failed" >&2; exit 1; }
cat "$out"
[ "$(tail -n 1 "$out")" = 'demo: 7 swaps, 6 filled, 1 refunded, 0 failed' ] || { echo "demo-test: another last line was expected" >&2; exit 1; }
