#!/bin/sh
# audit.sh: what the programs are made of, and what of it is not the newest. The second
# asks for newer versions over the network, and says so where there is none; which
# package brings each module stands in test/graph/linked_test.go.
set -eu
echo "direct dependencies that have a newer version:"
direct=$(go list -m -f '{{if not (or .Indirect .Main)}}{{.Path}}{{end}}' all)
# shellcheck disable=SC2086 # one argument each
newer=$(go list -m -u -f '{{with .Update}}  {{$.Path}} {{$.Version}}, newest {{.Version}}{{end}}' $direct) || newer="  not known: this asks over the network"
printf '%s\n' "${newer:-  none}" | sed '/^$/d'
for program in swapkeep swapkeepd swapkeep-server; do
	echo "linked by $program:"
	go list -deps -f '{{with .Module}}{{if not .Main}}  {{.Path}} {{.Version}}{{if .Indirect}}, by another{{end}}{{end}}{{end}}' "./cmd/$program" | sort -u
done
