package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"sync/atomic"

	"swapkeep/providers/keyproxy"
)

// A keyring knows the API keys that are let in, by their hashes. It is safe for
// concurrent use.
type keyring struct {
	salt [32]byte // so that how long a look-up takes tells nothing of a hash
	all  atomic.Pointer[map[[sha256.Size]byte]string]
}

func newKeyring(keys []keyproxy.Token) (*keyring, error) {
	k := &keyring{}
	_, _ = rand.Read(k.salt[:]) // never fails
	return k, k.admit(keys)
}

// maxKeys bounds a keyring.
const maxKeys = 100_000

// admit lets these keys in and no others. With an error all stays as it was.
func (k *keyring) admit(keys []keyproxy.Token) error {
	if len(keys) > maxKeys {
		return fmt.Errorf("there are %d API keys: must be at most %d", len(keys), maxKeys)
	}
	all := make(map[[sha256.Size]byte]string, len(keys))
	for _, key := range keys {
		hash, err := key.Hash()
		if err != nil {
			return err
		}
		at := k.place(hash)
		if _, twice := all[at]; twice {
			return fmt.Errorf("token %q: every token needs a hash of its own", key.Name)
		}
		all[at] = key.Name
	}
	k.all.Store(&all)
	return nil
}

func (k *keyring) place(hash [sha256.Size]byte) (at [sha256.Size]byte) {
	h := hmac.New(sha256.New, k.salt[:])
	h.Write(hash[:])
	h.Sum(at[:0])
	return at
}

// owner is whose a key is.
func (k *keyring) owner(_ context.Context, key string) (name string, ok bool) {
	name, ok = (*k.all.Load())[k.place(sha256.Sum256([]byte(key)))]
	return name, ok
}

// keysOf tells the sources' keys; "" where there is none.
func keysOf(keys map[string]string) func(context.Context, string) (string, error) {
	return func(_ context.Context, name string) (string, error) { return keys[name], nil }
}
