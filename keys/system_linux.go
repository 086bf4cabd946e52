package keys

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
)

const busVariable = "DBUS_SESSION_BUS_ADDRESS"

var busMu sync.Mutex // guards the environment variable

// ensureBus makes sure that there is a session bus. Browsers may start their native hosts
// with the address missing or set to "disabled:"; then the user's own bus is used if its
// socket exists. Without a bus the client library would start one, so it must not be
// called.
func ensureBus() error {
	busMu.Lock()
	defer busMu.Unlock()
	address := os.Getenv(busVariable)
	disabled := strings.HasPrefix(address, "disabled:")
	if address != "" && address != "autolaunch:" && !disabled {
		return nil
	}
	socket := filepath.Join(runtimeDir(), "bus")
	info, err := os.Stat(socket)
	switch {
	case err == nil && info.Mode().Type() == fs.ModeSocket:
		return os.Setenv(busVariable, "unix:path="+dbus.EscapeBusAddressValue(socket))
	case disabled:
		return ErrBusDisabled
	}
	return ErrNoBus
}

// runtimeDir returns the XDG runtime directory, also in an environment without the
// variable.
func runtimeDir() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return dir
	}
	return filepath.Join("/run/user", strconv.Itoa(os.Getuid()))
}

const (
	secretService     = "org.freedesktop.secrets"
	secretCollection  = "org.freedesktop.Secret.Collection"
	loginCollection   = "/org/freedesktop/secrets/collection/login"
	defaultCollection = "/org/freedesktop/secrets/aliases/default"
)

// prompts reports whether the collection that the client library would use is locked,
// which is when the service prompts.
func prompts() bool {
	bus, err := dbus.SessionBus()
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	for _, path := range []dbus.ObjectPath{loginCollection, defaultCollection} {
		var locked dbus.Variant
		err := bus.Object(secretService, path).CallWithContext(ctx,
			"org.freedesktop.DBus.Properties.Get", 0, secretCollection, "Locked").Store(&locked)
		if err == nil {
			is, _ := locked.Value().(bool)
			return is
		}
	}
	return false
}

// busErrors maps error names of the bus and the Secret Service.
var busErrors = map[string]error{
	"org.freedesktop.DBus.Error.ServiceUnknown":   ErrNoService,
	"org.freedesktop.DBus.Error.NameHasNoOwner":   ErrNoService,
	"org.freedesktop.DBus.Error.AccessDenied":     ErrDenied,
	"org.freedesktop.DBus.Error.AuthFailed":       ErrDenied,
	"org.freedesktop.DBus.Error.NoReply":          ErrHung,
	"org.freedesktop.DBus.Error.Timeout":          ErrHung,
	"org.freedesktop.DBus.Error.TimedOut":         ErrHung,
	"org.freedesktop.DBus.Error.LimitsExceeded":   ErrTooLarge,
	"org.freedesktop.Secret.Error.IsLocked":       ErrKeychainLocked,
	"org.freedesktop.Secret.Error.NoSuchObject":   ErrMissingItem,
	"org.freedesktop.DBus.Error.UnknownObject":    ErrKeychainLocked, // no collection yet
	"org.freedesktop.DBus.Error.UnknownMethod":    ErrKeychainLocked, // as some services report it
	"org.freedesktop.DBus.Error.Spawn.ExecFailed": ErrNoService,
}

// classify maps an error of the session bus or the Secret Service.
func classify(err error) error {
	var reply dbus.Error
	var dial *net.OpError
	switch {
	case errors.As(err, &reply):
		if named, ok := busErrors[reply.Name]; ok {
			return named
		}
		if strings.HasPrefix(reply.Name, "org.freedesktop.DBus.Error.Spawn.") {
			return ErrNoService
		}
	case errors.As(err, &dial), errors.Is(err, fs.ErrNotExist), errors.Is(err, dbus.ErrClosed),
		strings.HasPrefix(err.Error(), "dbus: invalid bus address"):
		return ErrNoBus
	case strings.HasPrefix(err.Error(), "failed to unlock correct collection"):
		return ErrKeychainLocked // the library's error for a prompt that was dismissed or not shown
	case strings.HasPrefix(err.Error(), "dbus: authentication"):
		return ErrDenied
	}
	return ErrKeychain
}
