package shared

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// seals are MAC keys for data in Redis, derived from the service's secret.
type seals struct{ table, answer, client []byte }

func newSeals(secret []byte) seals {
	return seals{derived(secret, "board"), derived(secret, "answer"), derived(secret, "client")}
}

func derived(secret []byte, purpose string) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte("swapkeep prices redis " + purpose))
	return h.Sum(nil)
}

const sealSize = sha256.Size

// sealOf is the MAC of a value and its name, so that a value cannot be moved to another
// name.
func sealOf(key []byte, name string, body []byte) []byte {
	h := hmac.New(sha256.New, key)
	hashed := sha256.Sum256([]byte(name))
	h.Write(hashed[:])
	h.Write(body)
	return h.Sum(nil)
}

func sealed(key []byte, name string, body []byte) []byte {
	return append(sealOf(key, name, body), body...)
}

// unsealed verifies and removes the seal; false if it is not valid.
func unsealed(key []byte, name string, value []byte) (body []byte, ok bool) {
	if len(value) < sealSize {
		return nil, false
	}
	body = value[sealSize:]
	return body, hmac.Equal(value[:sealSize], sealOf(key, name, body))
}

// hashedName returns a keyed hash of a name, which does not reveal it.
func hashedName(key []byte, name string) string {
	return hex.EncodeToString(sealOf(key, name, nil)[:16])
}
