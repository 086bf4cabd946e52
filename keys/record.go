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
	"runtime/debug"

	"golang.org/x/crypto/argon2"
)

// A KDF says how the vault password becomes a key (Argon2id, RFC 9106, of the
// password's HMAC-SHA-512 under the box's name). It is stored with each record; a vault's wallets share it, salt included, so that
// unlocking stretches the password once.
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
	maxWorkKiB    = 1 << 20 // memory times passes: about a second
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

// A record is a wallet's item: its secret, encrypted, and how to get the key.
type record struct {
	Version int       `json:"v"`
	KDF     recordKDF `json:"kdf"`
	Cipher  string    `json:"cipher"`
	Nonce   []byte    `json:"nonce"`
	Box     []byte    `json:"box"`
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

// parseRecord accepts exactly what seal writes, and [ErrNewer] for a later
// version. Parameters that would cost minutes or gigabytes are refused.
func parseRecord(text string) (*record, error) {
	var r record
	if err := decodeVersion(text, recordVersion, &r); err != nil {
		return nil, err
	}
	if r.Version != recordVersion || r.KDF.Name != kdfName || r.Cipher != cipherName {
		return nil, fmt.Errorf("%w: unknown version, derivation or cipher", ErrDamaged)
	}
	if len(r.KDF.Salt) != saltSize || len(r.Nonce) != nonceSize || len(r.Box) <= tagSize {
		return nil, fmt.Errorf("%w: cut short", ErrDamaged)
	}
	if err := r.KDF.cost().check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return &r, nil
}

func (k recordKDF) cost() KDF { return KDF{k.Passes, k.MemoryKiB, k.Lanes} }

// decodeVersion decodes an item whose field v is at most version: [ErrNewer]
// for a later one, [ErrDamaged] for what does not decode.
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
	if decodeStrict(text, into) != nil { // its error could quote the item
		return fmt.Errorf("%w: unknown form", ErrDamaged)
	}
	return nil
}

// decodeStrict decodes one JSON value, with no unknown field and nothing after.
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

// A passKey is the key that a password gives under one set of parameters.
type passKey struct {
	kdf recordKDF
	key secret
}

// newPassKey stretches a password under fresh salt.
func newPassKey(password []byte, cost KDF) (*passKey, error) {
	salt := make([]byte, saltSize)
	if _, err := rand.Read(salt); err != nil {
		return nil, err
	}
	kdf := recordKDF{kdfName, cost.Passes, cost.MemoryKiB, cost.Lanes, salt}
	return stretch(password, kdf), nil
}

// stretch takes tens of milliseconds and the parameters' memory, which goes
// back to the system at once: a wallet idles far longer than it unlocks.
func stretch(password []byte, kdf recordKDF) *passKey {
	input := macOnce(sha512.New, []byte(boxName), password) // what the library is given stays in memory
	defer input.zero()
	key := argon2.IDKey(input, kdf.Salt, kdf.Passes, kdf.MemoryKiB, kdf.Lanes, keySize)
	debug.FreeOSMemory()
	return &passKey{kdf: kdf, key: key}
}

// fits reports whether p's parameters are those of kdf.
func (p *passKey) fits(kdf recordKDF) bool {
	return p.kdf.cost() == kdf.cost() && bytes.Equal(p.kdf.Salt, kdf.Salt)
}

// withGCM hands the cipher to f and wipes it after: it holds the key.
func (p *passKey) withGCM(f func(cipher.AEAD) error) error {
	block, err := aes.NewCipher(p.key)
	if err != nil {
		return err
	}
	defer wipe(block)
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return err
	}
	defer wipe(aead)
	return f(aead)
}

// binding is the associated data: a record opens only under its own name.
func binding(service, item string) []byte {
	return []byte(boxName + "\x00" + service + "\x00" + item)
}

// seal encrypts plain for one item of one service.
func (p *passKey) seal(service, item string, plain secret) (string, error) {
	r := record{Version: recordVersion, KDF: p.kdf, Cipher: cipherName, Nonce: make([]byte, nonceSize)}
	if _, err := rand.Read(r.Nonce); err != nil {
		return "", err
	}
	err := p.withGCM(func(aead cipher.AEAD) error {
		r.Box = aead.Seal(nil, r.Nonce, plain, binding(service, item))
		return nil
	})
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(r)
	return string(text), err
}

// open decrypts a record; [ErrWrongPassword] also when it was altered or moved,
// which cannot be told apart.
func (p *passKey) open(service, item string, r *record) (secret, error) {
	var plain secret
	err := p.withGCM(func(aead cipher.AEAD) (err error) {
		if plain, err = aead.Open(nil, r.Nonce, r.Box, binding(service, item)); err != nil {
			err = ErrWrongPassword
		}
		return err
	})
	return plain, err
}
