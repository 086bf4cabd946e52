#!/bin/sh
# with-keyring.sh CMD...: runs CMD in a private D-Bus session with an unlocked
# gnome-keyring and its own HOME, and leaves nothing behind. It sets SWAPKEEP_TEST_KEYRING=1
# for CMD, and keeps Go's caches where they are. Needs dbus and gnome-keyring; says so if
# one is missing.
set -u

if [ -z "${WITH_KEYRING_INNER:-}" ]; then
    for tool in dbus-run-session dbus-send gnome-keyring-daemon; do
        command -v "$tool" >/dev/null 2>&1 || {
            echo "with-keyring: $tool is missing: apt-get install dbus gnome-keyring" >&2
            exit 127
        }
    done
    home=$(mktemp -d) || exit 1
    trap 'chmod -R u+w "$home" 2>/dev/null; rm -rf "$home"' EXIT
    trap 'exit 130' INT TERM HUP
    if command -v go >/dev/null 2>&1; then
        GOCACHE=$(go env GOCACHE) GOMODCACHE=$(go env GOMODCACHE) GOPATH=$(go env GOPATH)
        export GOCACHE GOMODCACHE GOPATH
    fi
    WITH_KEYRING_INNER=1 HOME=$home XDG_RUNTIME_DIR=$home \
        XDG_DATA_HOME='' XDG_CONFIG_HOME='' XDG_CACHE_HOME='' XDG_STATE_HOME='' \
        dbus-run-session -- "$0" "$@"
    exit $?
fi

unset WITH_KEYRING_INNER
printf %s "${WITH_KEYRING_PASSWORD:-ci}" | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1

# --unlock returns before the daemon owns its D-Bus name. A call before that would make the
# bus start a second daemon, which is locked.
owned() {
    dbus-send --session --print-reply --dest=org.freedesktop.DBus / \
        org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets 2>/dev/null | grep -q 'boolean true'
}
tries=0
until owned; do
    tries=$((tries + 1))
    [ "$tries" -gt 200 ] && { echo 'with-keyring: the keyring did not start' >&2; exit 1; }
    sleep 0.05
done
SWAPKEEP_TEST_KEYRING=1 exec "$@"
