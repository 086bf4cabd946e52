package keys

import (
	"context"
	"errors"
	"strings"
	"sync"

	"swapkeep/internal/failpoint"
)

// ProviderKeys stores credentials that providers require, such as the token of a key
// proxy, in one keychain item each. They are not encrypted under the vault password,
// because quotes are requested while the wallet is locked: whoever can open the keychain,
// or the directory of [Files], can read them. It may be used concurrently.
type ProviderKeys struct {
	store *Store

	mu    sync.Mutex
	known map[string]string // as last read or written; "" = none
}

const providerItem = "provider/"

// NewProviderKeys returns the provider keys kept in store.
func NewProviderKeys(store *Store) *ProviderKeys {
	k := &ProviderKeys{store: store, known: map[string]string{}}
	store.OnLate(k.late)
	return k
}

// late drops the cached value of an item that a timed-out write has changed after all.
func (k *ProviderKeys) late(l LateCall) {
	if provider, ok := strings.CutPrefix(l.Item, providerItem); ok && l.Write {
		k.forget(provider)
	}
}

func (k *ProviderKeys) forget(provider string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.known, provider)
}

// Get returns a provider's key, or "" if there is none. It reads the keychain once and
// caches the result.
func (k *ProviderKeys) Get(ctx context.Context, provider string) (string, error) {
	k.mu.Lock()
	key, ok := k.known[provider]
	k.mu.Unlock()
	if ok {
		return key, nil
	}
	key, err := k.store.Get(ctx, providerItem+provider)
	if err != nil && !errors.Is(err, ErrMissingItem) {
		return "", err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if newer, ok := k.known[provider]; ok { // set meanwhile
		return newer, nil
	}
	k.known[provider] = key
	return key, nil
}

// SetProviderKey stores a provider's key; an empty key deletes it. It may be repeated.
// After an error either the old key or the new one is stored.
func (k *ProviderKeys) SetProviderKey(ctx context.Context, provider string, key []byte) error {
	k.forget(provider)
	failpoint.Point("keys.before_provider")
	err := k.write(ctx, providerItem+provider, string(key))
	failpoint.Point("keys.after_provider")
	if err != nil {
		k.forget(provider) // a concurrent Get may have cached a value
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known[provider] = string(key)
	return nil
}

func (k *ProviderKeys) write(ctx context.Context, item, key string) error {
	if key != "" {
		return k.store.Set(ctx, item, key)
	}
	if err := k.store.Delete(ctx, item); err != nil && !errors.Is(err, ErrMissingItem) {
		return err
	}
	return nil
}
