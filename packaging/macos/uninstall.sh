#!/bin/sh
# Takes back what the macOS package of Swapkeep installed: the files below, folders that
# hold nothing else, and the system's receipt. Wallets stay, in each user's Library and
# keychain. Another volume than / is the one argument.
set -eu

remove() {
	[ "$(id -u)" = 0 ] || { echo "uninstall.sh: run it with sudo" >&2; exit 1; }
	cd "$1"
	# The agent of whoever is logged in ends after what it is about to sign.
	user=$(stat -f %u /dev/console 2>/dev/null) && launchctl bootout "gui/$user/app.swapkeep.daemon" 2>/dev/null || :
	while IFS= read -r file; do
		rm -f -- "$file"
	done <<-'FILES'
{{- range .Files}}
	{{.}}
{{- end}}
	FILES
	while IFS= read -r folder; do
		rmdir -- "$folder" 2>/dev/null || : # it holds others' files, or is gone
	done <<-'FOLDERS'
{{- range .Folders}}
	{{.}}
{{- end}}
	FOLDERS
	pkgutil --volume "$1" --forget {{.Package}}
	echo "Swapkeep is removed. Daemons that browsers started run on until their users log out."
}

remove "${1:-/}"
exit # the rest of this file is gone
