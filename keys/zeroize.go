package keys

import (
	"crypto/hmac"
	"hash"
	"runtime/debug"

	"swapkeep/internal/zeroize"
)

// withZeroize calls f and erases what f and the libraries that it calls leave of
// secrets in memory, see [zeroize.Do]. The result is not erased. It collects garbage,
// which takes milliseconds and returns the memory of key derivations to the system; who
// uses keys that stay in memory calls zeroize.Do instead, and Lock collects.
func withZeroize[T any](f func() (T, error)) (v T, err error) {
	defer debug.FreeOSMemory()
	zeroize.Do(func() { v, err = f() })
	return v, err
}

// mac returns the HMAC (RFC 2104) over the concatenated parts.
func mac(sum func() hash.Hash, key []byte, parts ...[]byte) secret {
	m := hmac.New(sum, key)
	for _, p := range parts {
		m.Write(p)
	}
	return m.Sum(nil)
}
