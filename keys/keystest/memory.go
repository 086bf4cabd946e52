// Package keystest provides fakes of the system's keychain and clock for tests.
package keystest

import (
	"maps"
	"sync"

	"swapkeep/keys"
)

// Memory is a keychain in memory. Its zero value is empty and ready.
type Memory struct {
	// Before is called before each operation ("set", "get", "delete" or "delete all")
	// without a lock held. It may fail the operation or block it. Set it before use.
	Before func(op, service, item string) error
	// WillPrompt reports whether the next call will prompt a person.
	WillPrompt func() bool

	mu    sync.Mutex
	items map[[2]string]string
}

var (
	_ keys.Keychain = (*Memory)(nil)
	_ keys.Prompter = (*Memory)(nil)
)

// Set implements [keys.Keychain].
func (m *Memory) Set(service, item, value string) error {
	if err := m.before("set", service, item); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.items == nil {
		m.items = map[[2]string]string{}
	}
	m.items[[2]string{service, item}] = value
	return nil
}

// Get implements [keys.Keychain].
func (m *Memory) Get(service, item string) (string, error) {
	if err := m.before("get", service, item); err != nil {
		return "", err
	}
	value, ok := m.peek(service, item)
	if !ok {
		return "", keys.ErrMissingItem
	}
	return value, nil
}

// DeleteAll implements [keys.Keychain].
func (m *Memory) DeleteAll(service string) error {
	if err := m.before("delete all", service, ""); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.items, func(at [2]string, _ string) bool { return at[0] == service })
	return nil
}

// Delete implements [keys.Keychain].
func (m *Memory) Delete(service, item string) error {
	if err := m.before("delete", service, item); err != nil {
		return err
	}
	if _, ok := m.peek(service, item); !ok {
		return keys.ErrMissingItem
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.items, [2]string{service, item})
	return nil
}

// Prompts implements [keys.Prompter].
func (m *Memory) Prompts() bool { return m.WillPrompt != nil && m.WillPrompt() }

func (m *Memory) Items(service string) map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	items := map[string]string{}
	for name, value := range m.items {
		if name[0] == service {
			items[name[1]] = value
		}
	}
	return items
}

func (m *Memory) before(op, service, item string) error {
	if m.Before == nil {
		return nil
	}
	return m.Before(op, service, item)
}

func (m *Memory) peek(service, item string) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.items[[2]string{service, item}]
	return value, ok
}
