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

// A keyring holds the hashes of the accepted API keys. It is safe for concurrent use.
type keyring struct {
	salt [32]byte // keeps the time of a look-up from revealing anything about a hash
	all  atomic.Pointer[map[[sha256.Size]byte]string]
}

func newKeyring(keys []keyproxy.Token) (*keyring, error) {
	k := &keyring{}
	_, _ = rand.Read(k.salt[:]) // never fails
	return k, k.admit(keys)
}

// maxKeys limits the keys in a keyring.
const maxKeys = 100_000

// admit replaces the accepted keys. On an error nothing changes.
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
			return fmt.Errorf("token %q: every token needs a different hash", key.Name)
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

// owner returns the name of a key's owner; false for an unknown key.
func (k *keyring) owner(_ context.Context, key string) (name string, ok bool) {
	name, ok = (*k.all.Load())[k.place(sha256.Sum256([]byte(key)))]
	return name, ok
}

// keysOf returns a function that looks up a source's key; "" if it has none.
func keysOf(keys map[string]string) func(context.Context, string) (string, error) {
	return func(_ context.Context, name string) (string, error) { return keys[name], nil }
}
