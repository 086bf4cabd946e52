package keys

import (
	"context"
	"errors"
	"strings"
	"sync"

	"swapkeep/fault"
)

// ProviderKeys keep what providers ask for beside a request, such as the token
// of a key proxy: one keychain item each, beside the wallets. They are not under
// the vault password, for a quote is asked for while the wallet is locked: who
// can open the keychain, or the folder of [Files], has them.
type ProviderKeys struct {
	store *Store

	mu    sync.Mutex
	known map[string]string // as last read or written, "" = none
}

const providerItem = "provider/"

// NewProviderKeys returns the provider keys of store.
func NewProviderKeys(store *Store) *ProviderKeys {
	k := &ProviderKeys{store: store, known: map[string]string{}}
	store.OnLate(k.late)
	return k
}

// late forgets what is known of an item that a write has reached after all.
func (k *ProviderKeys) late(l Late) {
	if provider, ok := strings.CutPrefix(l.Item, providerItem); ok && l.Write {
		k.forget(provider)
	}
}

func (k *ProviderKeys) forget(provider string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.known, provider)
}

// Get returns a provider's key, "" if there is none. It asks the keychain once.
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

// SetProviderKey keeps a provider's key; an empty one is forgotten. It may be
// repeated. After an error the old key holds or the new one.
func (k *ProviderKeys) SetProviderKey(ctx context.Context, provider string, key []byte) error {
	k.forget(provider)
	fault.Point("keys.before_provider")
	err := k.write(ctx, providerItem+provider, string(key))
	fault.Point("keys.after_provider")
	if err != nil {
		k.forget(provider) // a Get may have come between
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
