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

// Names of the Secret Service specification (freedesktop.org).
const (
	secretsName       = "org.freedesktop.secrets"
	secretsPath       = "/org/freedesktop/secrets"
	secretsInterface  = "org.freedesktop.Secret.Service"
	collectionLocked  = "org.freedesktop.Secret.Collection.Locked"
	itemDelete        = "org.freedesktop.Secret.Item.Delete"
	loginCollection   = "/org/freedesktop/secrets/collection/login"
	defaultCollection = "/org/freedesktop/secrets/aliases/default"
	noPrompt          = "/"
)

// busTime limits each call over D-Bus.
const busTime = 5 * time.Second

// openSystemKeychain uses the session's Secret Service if it runs and is unlocked. It
// starts no service and causes no prompt.
func openSystemKeychain(ctx context.Context, _ string) (keychain, error) {
	address, err := sessionBus(os.Getenv)
	if err != nil {
		return keychain{}, err
	}
	service, err := openSecrets(ctx, address)
	if err != nil {
		return keychain{}, err
	}
	k := service.keychain("the Secret Service of this session")
	k.end = func(ctx context.Context, name string) (string, error) {
		defer service.close()
		if name == "" {
			return "nothing was kept in it", nil
		}
		n, err := service.forget(ctx, name)
		return count(n, "item") + " deleted, none left", err
	}
	return k, nil
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
		return "", errors.New("there is no session bus here, so no keychain of the system's")
	}
	return "unix:path=" + dbus.EscapeBusAddressValue(socket), nil
}

// secrets is a connection to a Secret Service on one bus.
type secrets struct {
	address string
	conn    *dbus.Conn
	cancel  context.CancelFunc
}

// openSecrets connects to a Secret Service and checks that it runs and is unlocked.
func openSecrets(ctx context.Context, address string) (*secrets, error) {
	s, err := dialSecrets(address)
	if err != nil {
		return nil, fmt.Errorf("the session bus does not answer: %w", err)
	}
	if err := s.usable(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func dialSecrets(address string) (*secrets, error) {
	ctx, cancel := context.WithCancel(context.Background())
	timer := time.AfterFunc(busTime, cancel)
	conn, err := dbus.Connect(address, dbus.WithContext(ctx))
	if inTime := timer.Stop(); err == nil && !inTime {
		err = errors.New("too late")
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return &secrets{address, conn, cancel}, nil
}

func (s *secrets) close() {
	_ = s.conn.Close()
	s.cancel()
}

func (s *secrets) usable(ctx context.Context) error {
	owned, err := s.owned(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("the session bus does not answer: %w", err)
	case !owned:
		return errors.New("no Secret Service runs on the session bus")
	}
	locked, err := s.locked(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("the Secret Service of this session has no keyring to ask: %w", err)
	case locked:
		return errors.New("the Secret Service of this session is locked")
	}
	return nil
}

func (s *secrets) owned(ctx context.Context) (owned bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, busTime)
	defer cancel()
	err = s.conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, secretsName).Store(&owned)
	return owned, err
}

// locked reads the Locked property of the collection that the daemon would use.
func (s *secrets) locked(ctx context.Context) (locked bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, busTime)
	defer cancel()
	for _, path := range []dbus.ObjectPath{loginCollection, defaultCollection} {
		name := strings.TrimSuffix(collectionLocked, ".Locked")
		var value dbus.Variant
		err = s.conn.Object(secretsName, path).CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", 0, name, "Locked").Store(&value)
		if err == nil {
			return value.Value() != false, nil
		}
	}
	return false, err
}

// items returns the items stored under a service name.
func (s *secrets) items(ctx context.Context, service string) (found []dbus.ObjectPath, err error) {
	ctx, cancel := context.WithTimeout(ctx, busTime)
	defer cancel()
	var locked []dbus.ObjectPath
	err = s.conn.Object(secretsName, secretsPath).CallWithContext(ctx, secretsInterface+".SearchItems", 0,
		map[string]string{"service": service}).Store(&found, &locked)
	return append(found, locked...), err
}

// forget deletes a service name's items, checks that none is left, and counts them.
func (s *secrets) forget(ctx context.Context, service string) (int, error) {
	found, err := s.items(ctx, service)
	if err != nil {
		return 0, err
	}
	for _, item := range found {
		var prompt dbus.ObjectPath
		if err := s.conn.Object(secretsName, item).CallWithContext(ctx, itemDelete, 0).Store(&prompt); err != nil {
			return 0, err
		}
		if prompt != noPrompt {
			return 0, fmt.Errorf("the keychain wants to be asked before it deletes the items of %s", service)
		}
	}
	left, err := s.items(ctx, service)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("%s of %s still in the keychain", count(len(left), "item"), service)
	}
	return len(found), err
}

// keychain returns the keychain that makes the product's processes use this service.
func (s *secrets) keychain(name string) keychain {
	return keychain{
		name: name,
		env:  []string{"SWAPKEEP_KEYS_BACKEND=os", "DBUS_SESSION_BUS_ADDRESS=" + s.address},
		count: func(ctx context.Context, service string) (int, error) {
			found, err := s.items(ctx, service)
			return len(found), err
		},
	}
}
