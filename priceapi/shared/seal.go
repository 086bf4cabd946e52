package shared

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// seals are keys for what is kept in Redis, made of the service's secret.
type seals struct{ board, answer, client []byte }

func newSeals(secret []byte) seals {
	return seals{derived(secret, "board"), derived(secret, "answer"), derived(secret, "client")}
}

func derived(secret []byte, purpose string) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte("swapkeep prices redis " + purpose))
	return h.Sum(nil)
}

const sealSize = sha256.Size

// sealOf is of a value under its name: what is sealed for one stands for no other.
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

// unsealed takes the seal off; false where it is not ours.
func unsealed(key []byte, name string, value []byte) (body []byte, ok bool) {
	if len(value) < sealSize {
		return nil, false
	}
	body = value[sealSize:]
	return body, hmac.Equal(value[:sealSize], sealOf(key, name, body))
}

// hidden is a name that tells nothing of what it stands for.
func hidden(key []byte, name string) string {
	return hex.EncodeToString(sealOf(key, name, nil)[:16])
}
