#!/bin/sh
# setup.sh: installs what the tests need if it is allowed to, else names it and stops. No
# test is skipped for a missing tool: a test that cannot run is a failure.
set -eu

# Each line: a command or header, and the Debian package that has it.
needs='
gcc gcc
sqlite3.h libsqlite3-dev
dbus-run-session dbus
dbus-send dbus
gnome-keyring-daemon gnome-keyring
secret-tool libsecret-tools
chromium chromium
firefox-esr firefox-esr
initdb postgresql
redis-server redis-server
ps procps
Xvfb xvfb
openbox openbox
xdotool xdotool
pinentry-gtk-2 pinentry-gtk2
pinentry-qt pinentry-qt
zenity zenity
'

for c in go node npm git; do
	command -v "$c" >/dev/null 2>&1 || { echo "setup: $c is missing; install it first (Go 1.26 or newer, Node 20 or newer)" >&2; exit 1; }
done

# Debian does not put PostgreSQL's server programs on the PATH.
has() {
	command -v "$1" >/dev/null 2>&1 || [ -e "/usr/include/$1" ] || ls /usr/lib/postgresql/*/bin/"$1" >/dev/null 2>&1
}

missing=$(printf '%s' "$needs" | while read -r cmd pkg; do
	[ -z "$cmd" ] || has "$cmd" || echo "$pkg"
done | sort -u | tr '\n' ' ')
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
	echo "setup: install what these Debian packages contain, then try again: $missing" >&2
	exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null 2>&1 || ! sudo -n true 2>/dev/null; then
		echo "setup: run this first: apt-get install --no-install-recommends $missing" >&2
		exit 1
	fi
	as_root='sudo -n'
fi
echo "setup: installing $missing"
# The tests start their own servers: the packages must not start system services.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
	trap '$as_root rm -f $policy' EXIT
	trap 'exit 1' HUP INT TERM # dash does not run the EXIT trap on signals
	printf '#!/bin/sh\nexit 101\n' | $as_root tee $policy >/dev/null
	$as_root chmod 755 $policy
fi
$as_root apt-get update -qq
# shellcheck disable=SC2086 # a list of words
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing fonts-dejavu-core >/dev/null
for service in postgresql redis-server; do
	case " $missing " in
	*" $service "*)
		# A policy that existed before may have allowed the start.
		if command -v systemctl >/dev/null 2>&1; then
			$as_root systemctl stop --quiet "$service" 2>/dev/null || true
			$as_root systemctl disable --quiet "$service" 2>/dev/null || true
		else
			$as_root service "$service" stop >/dev/null 2>&1 || true
			$as_root update-rc.d "$service" disable >/dev/null 2>&1 || true
		fi
		;;
	esac
done
