package installer

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/windows/registry"
)

func thisRegistry() Registry { return windowsRegistry{} }

// windowsRegistry is this machine's registry. What a 64-bit program writes is read by
// browsers of either width, because they look in both views.
type windowsRegistry struct{}

var roots = map[string]registry.Key{"HKCU": registry.CURRENT_USER, "HKLM": registry.LOCAL_MACHINE}

func rootOf(key string) (registry.Key, string, error) {
	hive, path, _ := strings.Cut(key, `\`)
	root, ok := roots[hive]
	if !ok {
		return 0, "", fmt.Errorf("%s is no key of HKCU or HKLM", key)
	}
	return root, path, nil
}

// open calls do with a key. A missing key is no error, and do is not called.
func open(key string, rights uint32, do func(registry.Key) error) error {
	root, path, err := rootOf(key)
	if err != nil {
		return err
	}
	k, err := registry.OpenKey(root, path, rights)
	if errors.Is(err, registry.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open %s: %w", key, err)
	}
	return errors.Join(do(k), k.Close())
}

func (windowsRegistry) Value(key, name string) (text string, there bool, err error) {
	err = open(key, registry.QUERY_VALUE, func(k registry.Key) error {
		var err error
		text, _, err = k.GetStringValue(name)
		if errors.Is(err, registry.ErrNotExist) {
			return nil
		}
		there = true
		if errors.Is(err, registry.ErrUnexpectedType) {
			return nil // somebody else's, and not text
		}
		return err
	})
	return text, there, err
}

func (windowsRegistry) Number(key, name string) (n uint64, there bool, err error) {
	err = open(key, registry.QUERY_VALUE, func(k registry.Key) error {
		var err error
		n, _, err = k.GetIntegerValue(name)
		if errors.Is(err, registry.ErrNotExist) || errors.Is(err, registry.ErrUnexpectedType) {
			return nil
		}
		there = err == nil
		return err
	})
	return n, there, err
}

func (windowsRegistry) Exists(key string) (is bool, err error) {
	err = open(key, registry.QUERY_VALUE, func(registry.Key) error { is = true; return nil })
	return is, err
}

func (windowsRegistry) Make(key string) error {
	root, path, err := rootOf(key)
	if err != nil {
		return err
	}
	k, _, err := registry.CreateKey(root, path, registry.QUERY_VALUE)
	if err != nil {
		return fmt.Errorf("make %s: %w", key, err)
	}
	return k.Close()
}

func (windowsRegistry) Set(key, name, text string) error {
	found := false
	err := open(key, registry.SET_VALUE, func(k registry.Key) error { found = true; return k.SetStringValue(name, text) })
	if err == nil && !found {
		err = fmt.Errorf("%s: %w", key, registry.ErrNotExist)
	}
	return err
}

func (windowsRegistry) Unset(key, name string) error {
	return open(key, registry.SET_VALUE, func(k registry.Key) error {
		if err := k.DeleteValue(name); !errors.Is(err, registry.ErrNotExist) {
			return err
		}
		return nil
	})
}

func (r windowsRegistry) RemoveEmpty(key string) (bool, error) {
	empty := true
	err := open(key, registry.QUERY_VALUE|registry.ENUMERATE_SUB_KEYS, func(k registry.Key) error {
		info, err := k.Stat()
		empty = err == nil && info.ValueCount == 0 && info.SubKeyCount == 0
		return err
	})
	if err != nil || !empty {
		return false, err
	}
	root, path, err := rootOf(key)
	if err != nil {
		return false, err
	}
	if err := registry.DeleteKey(root, path); err != nil && !errors.Is(err, registry.ErrNotExist) {
		return false, fmt.Errorf("remove %s: %w", key, err)
	}
	return true, nil
}
