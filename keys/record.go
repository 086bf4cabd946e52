package keys

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha512"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"golang.org/x/crypto/argon2"
)

// A KDF holds the cost parameters that turn the vault password into a key: Argon2id (RFC
// 9106) over the HMAC-SHA-512 of the password, keyed with boxName. They are stored with
// each record. A vault's wallets share them, salt included, so that an unlock derives the
// key once.
type KDF struct {
	Passes    uint32
	MemoryKiB uint32
	Lanes     uint8
}

// DefaultKDF is RFC 9106's second recommendation: 64 MiB, 3 passes, 4 lanes.
var DefaultKDF = KDF{Passes: 3, MemoryKiB: 64 << 10, Lanes: 4}

const (
	minMemoryKiB  = 8 << 10
	maxMemoryKiB  = 256 << 10
	maxWorkKiB    = 1 << 20 // MemoryKiB times Passes: about a second
	maxLanes      = 16
	saltSize      = 16
	keySize       = 32
	nonceSize     = 12
	tagSize       = 16
	recordVersion = 1
	boxName       = "swapkeep wallet"
)

func (k KDF) check() error {
	switch {
	case k.MemoryKiB < minMemoryKiB, k.MemoryKiB > maxMemoryKiB:
	case k.Passes < 1, uint64(k.Passes)*uint64(k.MemoryKiB) > maxWorkKiB:
	case k.Lanes < 1, k.Lanes > maxLanes:
	default:
		return nil
	}
	return ErrKeyDerivation
}

// A record is a wallet's keychain item: its encrypted secret and the parameters to derive
// the key.
type record struct {
	Version    int       `json:"v"`
	KDF        recordKDF `json:"kdf"`
	Cipher     string    `json:"cipher"`
	Nonce      []byte    `json:"nonce"`
	Ciphertext []byte    `json:"ciphertext"`
}

type recordKDF struct {
	Name      string `json:"name"`
	Passes    uint32 `json:"t"`
	MemoryKiB uint32 `json:"m"`
	Lanes     uint8  `json:"p"`
	Salt      []byte `json:"salt"`
}

const (
	kdfName    = "argon2id"
	cipherName = "aes-256-gcm"
)

// parseRecord accepts exactly what seal writes. It returns [ErrNewer] for a later
// version, and refuses parameters that would cost minutes or gigabytes.
func parseRecord(text string) (*record, error) {
	var r record
	if err := decodeVersion(text, recordVersion, &r); err != nil {
		return nil, err
	}
	if r.Version != recordVersion || r.KDF.Name != kdfName || r.Cipher != cipherName {
		return nil, fmt.Errorf("%w: unknown version, derivation or cipher", ErrDamaged)
	}
	if len(r.KDF.Salt) != saltSize || len(r.Nonce) != nonceSize || len(r.Ciphertext) <= tagSize {
		return nil, fmt.Errorf("%w: cut short", ErrDamaged)
	}
	if err := r.KDF.cost().check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return &r, nil
}

func (k recordKDF) cost() KDF { return KDF{k.Passes, k.MemoryKiB, k.Lanes} }

// decodeVersion decodes an item whose field v is at most version. It returns [ErrNewer]
// for a later version and [ErrDamaged] for what does not decode.
func decodeVersion(text string, version int, into any) error {
	var found struct {
		Version int `json:"v"`
	}
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		return fmt.Errorf("%w: no version", ErrDamaged)
	}
	if found.Version > version {
		return fmt.Errorf("%w: version %d", ErrNewer, found.Version)
	}
	if decodeStrict(text, into) != nil { // the decoder's error could quote the item
		return fmt.Errorf("%w: unknown form", ErrDamaged)
	}
	return nil
}

// decodeStrict decodes exactly one JSON value without unknown fields.
func decodeStrict(text string, v any) error {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("trailing data")
	}
	return nil
}

// A passKey is the key derived from a password with one set of parameters.
type passKey struct {
	kdf recordKDF
	key secret
}

// newPassKey derives a key from a password with a fresh salt.
func newPassKey(password []byte, cost KDF) (*passKey, error) {
	salt := make([]byte, saltSize)
	if _, err := rand.Read(salt); err != nil {
		return nil, err
	}
	kdf := recordKDF{kdfName, cost.Passes, cost.MemoryKiB, cost.Lanes, salt}
	return deriveKey(password, kdf), nil
}

// deriveKey derives the key. It takes tens of milliseconds and the parameters' memory.
func deriveKey(password []byte, kdf recordKDF) *passKey {
	input := mac(sha512.New, []byte(boxName), password)
	defer input.zero()
	key := argon2.IDKey(input, kdf.Salt, kdf.Passes, kdf.MemoryKiB, kdf.Lanes, keySize)
	return &passKey{kdf: kdf, key: key}
}

// fits reports whether p was derived with these parameters.
func (p *passKey) fits(kdf recordKDF) bool {
	return p.kdf.cost() == kdf.cost() && bytes.Equal(p.kdf.Salt, kdf.Salt)
}

func (p *passKey) gcm() (cipher.AEAD, error) {
	block, err := aes.NewCipher(p.key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// binding returns the associated data, so that a record opens only under its own name.
func binding(service, item string) []byte {
	return []byte(boxName + "\x00" + service + "\x00" + item)
}

// seal encrypts plain for one item of one service.
func (p *passKey) seal(service, item string, plain secret) (string, error) {
	r := record{Version: recordVersion, KDF: p.kdf, Cipher: cipherName, Nonce: make([]byte, nonceSize)}
	if _, err := rand.Read(r.Nonce); err != nil {
		return "", err
	}
	aead, err := p.gcm()
	if err != nil {
		return "", err
	}
	r.Ciphertext = aead.Seal(nil, r.Nonce, plain, binding(service, item))
	text, err := json.Marshal(r)
	return string(text), err
}

// open decrypts a record. It returns [ErrWrongPassword] also for a record that was
// altered or moved, which cannot be told apart.
func (p *passKey) open(service, item string, r *record) (secret, error) {
	aead, err := p.gcm()
	if err != nil {
		return nil, err
	}
	plain, err := aead.Open(nil, r.Nonce, r.Ciphertext, binding(service, item))
	if err != nil {
		return nil, ErrWrongPassword
	}
	return plain, nil
}
