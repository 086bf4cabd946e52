//go:build linux

package keychain

import (
	"context"
	"fmt"

	"github.com/godbus/dbus/v5"
)

// Secret Service names.
const (
	secrets = "org.freedesktop.secrets"
	service = "org.freedesktop.Secret.Service"
	item    = "org.freedesktop.Secret.Item"
)

// A dbusSecret value is a secret as sent over the bus: unencrypted in a plain session.
type dbusSecret struct {
	Session     dbus.ObjectPath
	Parameters  []byte
	Value       []byte
	ContentType string
}

// Secrets returns all secrets of an open Service by their username attribute.
func (s *Service) Secrets() (map[string][]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	bus, err := dbus.Connect(s.Address(), dbus.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	defer bus.Close()
	all := bus.Object(secrets, "/org/freedesktop/secrets")
	var none dbus.Variant
	var session dbus.ObjectPath
	if err := all.CallWithContext(ctx, service+".OpenSession", 0, "plain", dbus.MakeVariant("")).Store(&none, &session); err != nil {
		return nil, fmt.Errorf("open a session: %w", err)
	}
	var open, shut []dbus.ObjectPath
	if err := all.CallWithContext(ctx, service+".SearchItems", 0, map[string]string{}).Store(&open, &shut); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	var values map[dbus.ObjectPath]dbusSecret
	if err := all.CallWithContext(ctx, service+".GetSecrets", 0, open, session).Store(&values); err != nil {
		return nil, fmt.Errorf("get: %w", err)
	}
	held := map[string][]byte{}
	for path, v := range values {
		var attributes map[string]string
		if err := bus.Object(secrets, path).StoreProperty(item+".Attributes", &attributes); err != nil {
			return nil, fmt.Errorf("attributes of %s: %w", path, err)
		}
		held[attributes["username"]] = v.Value
	}
	return held, nil
}
