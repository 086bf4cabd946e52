#!/bin/sh
# fuzz.sh TIME: runs every fuzz target for TIME (such as 60s), one after the
# other, and ends with a table. A finding fails it and stays in testdata/fuzz.
set -u
time=${1:-60s}
failed=0
table=
for pkg in $(go list ./...); do
	dir=./${pkg#swapkeep/}
	for target in $(grep -ho '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go 2>/dev/null | sed 's/func //'); do
		out=$(go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 5x "$dir" 2>&1)
		rc=$?
		execs=$(printf '%s\n' "$out" | sed -n 's/.*execs: \([0-9]*\).*/\1/p' | tail -n 1)
		verdict=ok
		[ $rc = 0 ] || { verdict=FINDING; failed=1; printf '%s\n' "$out"; }
		row=$(printf '%-8s %-24s %-22s %s' "$verdict" "$dir" "$target" "${execs:-0}")
		echo "$row"
		table="$table$row
"
	done
done
printf '\n%-8s %-24s %-22s %s\n%s' verdict package target executions "$table"
exit $failed
