#!/usr/bin/env bash
# stage.sh DIR NAME CMD...: runs CMD and writes its verdict, wall time and processor time in
# seconds to DIR/NAME. stage.sh DIR prints a table of all stages in DIR, and fails if one of
# them failed.
set -u
dir=$1
if [ $# -eq 1 ]; then
	printf '%-14s %-7s %8s %8s\n' stage verdict wall cpu
	cat "$dir"/* 2>/dev/null | sort -k3 -rn | awk '{ printf "%-14s %-7s %8.0f %8.0f\n", $1, $2, $3, $4; cpu += $4; if ($2 != "ok") bad = 1 } END { printf "%-14s %-7s %8s %8.0f\n", "total", bad ? "FAILED" : "ok", "", cpu; exit bad }'
	exit
fi
name=$2
shift 2
mkdir -p "$dir"
TIMEFORMAT='%R %U %S'
# Not 3 and 4, which may be make's pipe of jobs.
exec {out}>&1 {err}>&2
taken=$({ time "$@" >&$out 2>&$err {out}>&- {err}>&-; } 2>&1)
status=$?
verdict=ok
[ $status -eq 0 ] || verdict=FAILED
echo "$name $verdict $taken" | awk '{ print $1, $2, $3, $4 + $5 }' >"$dir/$name"
exit $status
