#!/bin/sh
# fuzz.sh TIME [I/N]: runs every fuzz target for TIME (such as 60s), one after the
# other, and ends with a table; with I/N, the I-th of N equal shares of them. A
# finding fails it and stays in testdata/fuzz.
set -u
time=${1:-60s}
share=${2:-1/1}
failed=0
count=0
table=

# Go's fuzzer can report the end of its own time as a failure (golang/go#75804). It
# wrote no failing input then.
run() {
	for _ in 1 2 3; do
		out=$(go test -run '^$' -fuzz "^$2\$" -fuzztime "$time" -fuzzminimizetime 5x "$1" 2>&1) && return 0
		case $out in
		*"Failing input written"*) return 1 ;;
		*"context deadline exceeded"*) ;;
		*) return 1 ;;
		esac
	done
	return 1
}

for pkg in $(go list ./...); do
	dir=./${pkg#swapkeep/}
	for target in $(grep -ho '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go 2>/dev/null | sed 's/func //'); do
		count=$((count + 1))
		[ $((count % ${share#*/})) = $((${share%/*} % ${share#*/})) ] || continue
		verdict=ok
		run "$dir" "$target" || { verdict=FINDING; failed=1; printf '%s\n' "$out"; }
		execs=$(printf '%s\n' "$out" | sed -n 's/.*execs: \([0-9]*\).*/\1/p' | tail -n 1)
		row=$(printf '%-8s %-24s %-22s %s' "$verdict" "$dir" "$target" "${execs:-0}")
		echo "$row"
		table="$table$row
"
	done
done
printf '\n%-8s %-24s %-22s %s\n%s' verdict package target executions "$table"
exit $failed
