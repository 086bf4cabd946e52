#!/bin/sh
# audit.sh: lists the modules that the programs link, and the direct dependencies that have
# a newer version. The latter needs the network; without it the script says so.
# test/graph/linked_test.go has the package that brings in each module.
set -eu
echo "direct dependencies that have a newer version:"
direct=$(go list -m -f '{{if not (or .Indirect .Main)}}{{.Path}}{{end}}' all)
# shellcheck disable=SC2086 # one argument each
newer=$(go list -m -u -f '{{with .Update}}  {{$.Path}} {{$.Version}}, newest {{.Version}}{{end}}' $direct) || newer="  unknown: this needs the network"
printf '%s\n' "${newer:-  none}" | sed '/^$/d'
for program in swapkeep swapkeepd swapkeep-server; do
	echo "linked by $program:"
	go list -deps -f '{{with .Module}}{{if not .Main}}  {{.Path}} {{.Version}}{{if .Indirect}}, indirect{{end}}{{end}}{{end}}' "./cmd/$program" | sort -u
done
