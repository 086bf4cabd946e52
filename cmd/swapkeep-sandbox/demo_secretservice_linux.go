package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	secretsName = "org.freedesktop.secrets"
	busTime     = 5 * time.Second // limits what is asked of the bus
)

// openSystemKeychain uses this session's Secret Service if it runs and is unlocked. It
// starts no service and causes no prompt.
func openSystemKeychain(ctx context.Context) (k keychain, err error) {
	err = onBus(ctx, func(ctx context.Context, bus *dbus.Conn) error {
		var owned bool
		if err := bus.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, secretsName).Store(&owned); err != nil {
			return fmt.Errorf("the session bus does not answer: %w", err)
		}
		if !owned {
			return errors.New("no Secret Service is running on the session bus")
		}
		return unlocked(ctx, bus)
	})
	name := "the Secret Service of this session"
	if os.Getenv(privateKeyring) != "" {
		name = "a private Secret Service: gnome-keyring on its own bus, only for this demo"
	}
	return keychain{name: name, env: []string{"SWAPKEEP_KEYS_BACKEND=os"}, system: true}, err
}

// unlocked checks the collection that the daemon would use.
func unlocked(ctx context.Context, bus *dbus.Conn) (err error) {
	for _, path := range []dbus.ObjectPath{"/org/freedesktop/secrets/collection/login", "/org/freedesktop/secrets/aliases/default"} {
		var locked dbus.Variant
		err = bus.Object(secretsName, path).CallWithContext(ctx,
			"org.freedesktop.DBus.Properties.Get", 0, "org.freedesktop.Secret.Collection", "Locked").Store(&locked)
		if err == nil && locked.Value() != false {
			return errors.New("the Secret Service of this session is locked")
		}
		if err == nil {
			return nil
		}
	}
	return fmt.Errorf("the Secret Service of this session has no keyring: %w", err)
}

// search finds the items of a service name. It reads no secret.
func search(ctx context.Context, bus *dbus.Conn, service string) ([]dbus.ObjectPath, error) {
	var open, locked []dbus.ObjectPath
	err := bus.Object(secretsName, "/org/freedesktop/secrets").CallWithContext(ctx, "org.freedesktop.Secret.Service.SearchItems", 0,
		map[string]string{"service": service}).Store(&open, &locked)
	return append(open, locked...), err
}

// itemsOf counts the items of a service name.
func itemsOf(ctx context.Context, service string) (n int, err error) {
	err = onBus(ctx, func(ctx context.Context, bus *dbus.Conn) error {
		found, err := search(ctx, bus, service)
		n = len(found)
		return err
	})
	return n, err
}

// deleteItems deletes the items of a service name.
func deleteItems(ctx context.Context, service string) error {
	return onBus(ctx, func(ctx context.Context, bus *dbus.Conn) error {
		found, err := search(ctx, bus, service)
		for _, item := range found {
			var prompt dbus.ObjectPath
			err = errors.Join(err, bus.Object(secretsName, item).CallWithContext(ctx, "org.freedesktop.Secret.Item.Delete", 0).Store(&prompt))
			if prompt != "" && prompt != "/" {
				err = errors.Join(err, fmt.Errorf("the keychain asks before it deletes the items of %s", service))
			}
		}
		return err
	})
}

func onBus(ctx context.Context, do func(context.Context, *dbus.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, busTime)
	defer cancel()
	address, err := sessionBus(os.Getenv)
	if err != nil {
		return err
	}
	bus, err := dbus.Connect(address, dbus.WithContext(ctx))
	if err != nil {
		return fmt.Errorf("the session bus does not answer: %w", err)
	}
	defer func() { _ = bus.Close() }()
	return do(ctx, bus)
}

// sessionBus returns the bus address that the daemon would use: the one of the
// environment, else the user's default bus.
func sessionBus(getenv func(string) string) (string, error) {
	address := getenv("DBUS_SESSION_BUS_ADDRESS")
	if address != "" && address != "autolaunch:" && !strings.HasPrefix(address, "disabled:") {
		return address, nil
	}
	dir := getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = filepath.Join("/run/user", strconv.Itoa(os.Getuid()))
	}
	socket := filepath.Join(dir, "bus")
	if info, err := os.Stat(socket); err != nil || info.Mode().Type() != fs.ModeSocket {
		return "", errors.New("there is no session bus, so no system keychain")
	}
	return "unix:path=" + dbus.EscapeBusAddressValue(socket), nil
}
