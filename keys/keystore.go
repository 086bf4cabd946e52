package keys

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/google/uuid"
	"golang.org/x/crypto/pbkdf2"
	"golang.org/x/crypto/scrypt"
)

// A keystore is a key file of the Web3 Secret Storage definition, version 3. It is parsed
// here because go-ethereum's package does not bound the cost of a file's parameters.
type keystore struct {
	Address string         `json:"address,omitempty"` // hex, with or without 0x
	Crypto  keystoreCrypto `json:"crypto"`
	ID      string         `json:"id"`
	Version int            `json:"version"`
}

type keystoreCrypto struct {
	Cipher       string         `json:"cipher"`
	CipherParams keystoreIV     `json:"cipherparams"`
	CipherText   hexBytes       `json:"ciphertext"`
	KDF          string         `json:"kdf"`
	Params       keystoreParams `json:"kdfparams"`
	MAC          hexBytes       `json:"mac"`
}

type keystoreIV struct {
	IV hexBytes `json:"iv"`
}

// keystoreParams are the parameters of both derivations: N, R and P for scrypt, C and PRF
// for PBKDF2.
type keystoreParams struct {
	DKLen uint32   `json:"dklen"`
	Salt  hexBytes `json:"salt"`
	N     uint32   `json:"n,omitempty"`
	R     uint32   `json:"r,omitempty"`
	P     uint32   `json:"p,omitempty"`
	C     uint32   `json:"c,omitempty"`
	PRF   string   `json:"prf,omitempty"`
}

type hexBytes []byte

func (h hexBytes) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h), nil }

func (h *hexBytes) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(strings.TrimPrefix(string(text), "0x"))
	return err
}

const (
	keystoreVersion = 3
	keystoreCipher  = "aes-128-ctr"
	keystorePRF     = "hmac-sha256"
	maxKeystore     = 4096 // bytes of the file
	maxKeystoreSalt = 256

	// Bounds on the cost of opening a file, so that a hostile one takes neither all
	// memory nor minutes. Geth's own parameters, the heaviest in common use, need a
	// fourth of this work and all of this memory.
	maxScryptMemory  = 256 << 20 // bytes: 128*N*r
	maxScryptWork    = 1 << 23   // N*r*p
	maxPBKDF2Rounds  = 1 << 22
	exportScryptN    = 1 << 17 // for files written here; 128 MiB
	exportScryptR    = 8
	exportScryptP    = 1
	keystoreKeyBytes = 16 // of the derived key: the first 16 bytes encrypt, the next 16 authenticate
)

// keystoreKDFs are the supported key derivations: fits checks the parameters' bounds,
// derive derives the key.
var keystoreKDFs = map[string]struct {
	fits   func(keystoreParams) bool
	derive func(password []byte, p keystoreParams) (secret, error)
}{
	"scrypt": {
		func(p keystoreParams) bool {
			n, r, lanes := uint64(p.N), uint64(p.R), uint64(p.P)
			return n > 1 && n&(n-1) == 0 && r > 0 && lanes > 0 && r <= 1<<10 && lanes <= 1<<10 &&
				128*n*r <= maxScryptMemory && n*r*lanes <= maxScryptWork
		},
		func(password []byte, p keystoreParams) (secret, error) {
			return scrypt.Key(password, p.Salt, int(p.N), int(p.R), int(p.P), int(p.DKLen))
		},
	},
	"pbkdf2": {
		func(p keystoreParams) bool { return p.PRF == keystorePRF && p.C > 0 && p.C <= maxPBKDF2Rounds },
		func(password []byte, p keystoreParams) (secret, error) {
			return pbkdf2.Key(password, p.Salt, int(p.C), int(p.DKLen), sha256.New), nil
		},
	},
}

// parseKeystore parses a key file. It returns [ErrBadKeystore] for one that is not
// version 3, is not supported, or would cost too much to open. Its errors quote nothing
// of the file.
func parseKeystore(text []byte) (*keystore, error) {
	if len(text) > maxKeystore {
		return nil, fmt.Errorf("%w: over %d bytes", ErrBadKeystore, maxKeystore)
	}
	var k keystore
	if json.Unmarshal(text, &k) != nil {
		return nil, fmt.Errorf("%w: not JSON of its form", ErrBadKeystore)
	}
	c := &k.Crypto
	kdf, known := keystoreKDFs[c.KDF]
	for _, check := range []struct {
		ok   bool
		what string
	}{
		{k.Version == keystoreVersion, "its version is not 3"},
		{c.Cipher == keystoreCipher, "its cipher is not aes-128-ctr"},
		{known, "its key derivation is neither scrypt nor pbkdf2"},
		{len(c.CipherParams.IV) == aes.BlockSize, "its iv has another length"},
		{len(c.CipherText) > 0 && len(c.CipherText) <= keySize, "it holds no private key"},
		{len(c.MAC) == sha256.Size, "its mac has another length"},
		{c.Params.DKLen == keySize && len(c.Params.Salt) <= maxKeystoreSalt, "its key derivation has other sizes"},
		{known && kdf.fits(c.Params), "its key derivation is out of bounds"},
		{k.Address == "" || common.IsHexAddress(k.Address), "its address is none"},
	} {
		if !check.ok {
			return nil, fmt.Errorf("%w: %s", ErrBadKeystore, check.what)
		}
	}
	return &k, nil
}

// open decrypts the private key. It returns [ErrKeystorePassword] for a wrong password or
// an altered file, which cannot be told apart.
func (k *keystore) open(password []byte) (secret, error) {
	c := &k.Crypto
	derived, err := keystoreKDFs[c.KDF].derive(password, c.Params)
	if err != nil {
		return nil, err
	}
	defer derived.zero()
	if subtle.ConstantTimeCompare(keystoreMAC(derived, c.CipherText), c.MAC) != 1 {
		return nil, ErrKeystorePassword
	}
	key := make(secret, keySize) // a shorter text has lost its leading zeros
	if err := crypt(derived, c.CipherParams.IV, key[keySize-len(c.CipherText):], c.CipherText); err != nil {
		return nil, err
	}
	switch {
	case !validKey(key):
		err = fmt.Errorf("%w: it holds no private key", ErrBadKeystore)
	case k.Address != "" && common.HexToAddress(k.Address) != addressOf(key):
		err = fmt.Errorf("%w: its address is another key's", ErrBadKeystore)
	default:
		return key, nil
	}
	key.zero()
	return nil, err
}

func keystoreMAC(derived secret, cipherText []byte) []byte {
	return crypto.Keccak256(derived[keystoreKeyBytes:keySize], cipherText)
}

// crypt is AES-128-CTR, the same in both directions.
func crypt(derived secret, iv, to, from []byte) error {
	block, err := aes.NewCipher(derived[:keystoreKeyBytes])
	if err != nil {
		return err
	}
	cipher.NewCTR(block, iv).XORKeyStream(to, from)
	return nil
}

// sealKeystore encodes a key file with scrypt, which every wallet reads.
func sealKeystore(key secret, password []byte) (secret, error) {
	salt, iv := make([]byte, keySize), make([]byte, aes.BlockSize)
	for _, b := range [][]byte{salt, iv} {
		if _, err := rand.Read(b); err != nil {
			return nil, err
		}
	}
	address := addressOf(key)
	params := keystoreParams{DKLen: keySize, Salt: salt, N: exportScryptN, R: exportScryptR, P: exportScryptP}
	derived, err := keystoreKDFs["scrypt"].derive(password, params)
	if err != nil {
		return nil, err
	}
	defer derived.zero()
	cipherText := make([]byte, keySize)
	if err := crypt(derived, iv, cipherText, key); err != nil {
		return nil, err
	}
	return json.Marshal(keystore{
		Address: hex.EncodeToString(address[:]), ID: uuid.NewString(), Version: keystoreVersion,
		Crypto: keystoreCrypto{
			Cipher: keystoreCipher, CipherParams: keystoreIV{iv}, CipherText: cipherText,
			KDF: "scrypt", Params: params, MAC: keystoreMAC(derived, cipherText),
		},
	})
}
