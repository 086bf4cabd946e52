package keys

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
)

// keystoreVectors are key files of public test keys.
type keystoreVectors struct {
	Vectors map[string]struct {
		File          json.RawMessage
		Password, Key string
	}
}

// lightVector is a vector with cheap derivation parameters.
const lightVector = "key of 31 bytes"

func readKeystores(t testing.TB) keystoreVectors {
	var v keystoreVectors
	testdata(t, "keystore_v3.json", &v)
	if len(v.Vectors) != 4 {
		t.Fatalf("%d vectors", len(v.Vectors))
	}
	return v
}

func TestKeystoreVectors(t *testing.T) {
	for name, v := range readKeystores(t).Vectors {
		t.Run(name, func(t *testing.T) {
			k, err := parseKeystore(v.File)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := k.open([]byte(v.Password + "x")); !errors.Is(err, ErrKeystorePassword) {
				t.Errorf("another password: %v", err)
			}
			key, err := k.open([]byte(v.Password))
			if want := unhex(t, v.Key); err != nil || !key.equal(append(make(secret, 32-len(want)), want...)) {
				t.Errorf("opened: %v", err)
			}
		})
	}
}

func TestWrittenKeystoresOpen(t *testing.T) {
	key, password := secret(crypto.Keccak256([]byte("cow"))), []byte("four unrelated words") // public test key
	file, err := sealKeystore(key, password)
	if err != nil {
		t.Fatal(err)
	}
	k, err := parseKeystore(file)
	if err != nil || k.Address != "cd2a3d9f938e13cd947ec05abc7fe734df8dd826" {
		t.Fatalf("parseKeystore = %+v, %v, want address cd2a3d9f938e13cd947ec05abc7fe734df8dd826", k, err)
	}
	if got, err := k.open(password); err != nil || !got.equal(key) {
		t.Errorf("opened: %v", err)
	}
	k.Address = strings.Repeat("0", 39) + "1"
	if _, err := k.open(password); !errors.Is(err, ErrBadKeystore) {
		t.Errorf("another key's address: %v", err)
	}
	other, err := sealKeystore(key, password)
	if err != nil || string(other) == string(file) {
		t.Error("two files share salt and iv")
	}
}

// TestRefusedKeystores checks that invalid files are refused before any key is derived.
func TestRefusedKeystores(t *testing.T) {
	good := string(readKeystores(t).Vectors["scrypt"].File)
	rounds := string(readKeystores(t).Vectors["pbkdf2"].File)
	for name, change := range map[string][3]string{
		"version 1":               {good, `"version": 3`, `"version": 1`},
		"no version":              {good, `"version": 3`, `"vision": 3`},
		"version as text":         {good, `"version": 3`, `"version": "3"`},
		"another cipher":          {good, "aes-128-ctr", "aes-128-cbc"},
		"another derivation":      {good, `"scrypt"`, `"argon2"`},
		"another prf":             {rounds, "hmac-sha256", "hmac-sha1"},
		"no rounds":               {rounds, `"c": 262144`, `"c": 0`},
		"endless rounds":          {rounds, `"c": 262144`, `"c": 4194305`},
		"n of gigabytes":          {good, `"n": 262144`, `"n": 2147483648`},
		"n beyond its type":       {good, `"n": 262144`, `"n": 1e30`},
		"n is not a power of two": {good, `"n": 262144`, `"n": 262143`},
		"n of one":                {good, `"n": 262144`, `"n": 1`},
		"r of gigabytes":          {good, `"r": 1`, `"r": 1024`},
		"r of zero":               {good, `"r": 1`, `"r": 0`},
		"p of minutes":            {good, `"p": 8`, `"p": 64`},
		"negative p":              {good, `"p": 8`, `"p": -1`},
		"short derived key":       {good, `"dklen": 32`, `"dklen": 16`},
		"huge derived key":        {good, `"dklen": 32`, `"dklen": 4000000000`},
		"short iv":                {good, "83dbcc02", "83dbcc"},
		"no ciphertext":           {good, "d172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c", ""},
		"two keys":                {good, "d172bf74", "d172bf74d172bf74"},
		"short mac":               {good, "2103ac29", "2103"},
		"salt that is no hex":     {good, "ab0c7876", "zb0c7876"},
		"malformed address":       {good, `"version": 3`, `"version": 3, "address": "0x12"`},
		"long":                    {good, `"version": 3`, `"version": 3, "name": "` + strings.Repeat("a", maxKeystore) + `"`},
		"not JSON":                {good, "{", "["},
	} {
		text := strings.Replace(change[0], change[1], change[2], 1)
		if text == change[0] {
			t.Fatalf("%s changes nothing", name)
		}
		if _, err := parseKeystore([]byte(text)); !errors.Is(err, ErrBadKeystore) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// An altered ciphertext must not decrypt to another key.
	light := string(readKeystores(t).Vectors[lightVector].File)
	k, err := parseKeystore([]byte(strings.Replace(light, "9517cd5b", "9617cd5b", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.open([]byte("foo")); !errors.Is(err, ErrKeystorePassword) {
		t.Errorf("altered ciphertext: %v", err)
	}
}

// FuzzParseKeystore checks that accepted files stay within the cost bounds, and open or
// are refused.
func FuzzParseKeystore(f *testing.F) {
	for _, v := range readKeystores(f).Vectors {
		f.Add([]byte(v.File))
	}
	f.Add([]byte(`{"version":3,"Crypto":{"kdf":"scrypt","kdfparams":{"n":2}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		k, err := parseKeystore(text)
		if err != nil {
			return
		}
		p := k.Crypto.Params
		memory, work := 128*uint64(p.N)*uint64(p.R), uint64(p.N)*uint64(p.R)*uint64(p.P)
		if k.Crypto.KDF == "pbkdf2" {
			memory, work = 0, uint64(p.C)
		}
		if memory > maxScryptMemory || work > max(maxScryptWork, maxPBKDF2Rounds) {
			t.Fatalf("costs %+v", p)
		}
		if work > 1<<8 {
			return // allowed, but too slow for fuzzing
		}
		if key, err := k.open([]byte("foo")); err == nil && !validKey(key) {
			t.Fatal("no private key")
		}
	})
}

func TestPrivateKeys(t *testing.T) {
	const digits = "c85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4" // public test key
	for _, text := range []string{digits, "0x" + digits, "0X" + strings.ToUpper(digits), " " + digits + "\n"} {
		key, err := parseKey([]byte(text))
		if err != nil || string(encodePrivateKey(key)) != "0x"+digits {
			t.Errorf("%q: %v", text, err)
		}
	}
	for name, text := range map[string]string{
		"empty": "", "short": digits[2:], "long": digits + "00", "no hex": "zz" + digits[2:], "0x twice": "0x0x" + digits,
		"zero": strings.Repeat("0", 64), "the curve's order": "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141",
	} {
		_, err := parseKey([]byte(text))
		if !errors.Is(err, ErrBadKey) || strings.Contains(fmt.Sprint(err), "zz") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPublishedKeys checks that published keys are recognized by address or pattern.
func TestPublishedKeys(t *testing.T) {
	for name, key := range map[string]secret{
		"EIP-712":                        crypto.Keccak256([]byte("cow")),
		"EIP-155":                        secret(strings.Repeat("\x46", 32)),
		"one":                            append(make(secret, 31), 1),
		"web3.js":                        unhex(t, "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"),
		"go-ethereum":                    unhex(t, "b71c71a67e1177ad4e901695e1b4b9ee17ae16c6668d313eac2f96dbcda3f291"),
		"the Web3 definition":            unhex(t, "7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d"),
		"a development chain's keystore": unhex(t, "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"),
	} {
		p := payload{kindKey, originImported, key}
		if err := p.checkMode(false); !errors.Is(err, ErrTestKey) {
			t.Errorf("%s, real: %v", name, err)
		}
		wanted := error(ErrSandboxImport)
		if name == "a development chain's keystore" {
			wanted = nil
		}
		if err := p.checkMode(true); !errors.Is(err, wanted) {
			t.Errorf("%s, sandbox: %v", name, err)
		}
	}
	own := payload{kindKey, originImported, crypto.Keccak256([]byte("made for this test"))}
	if err := own.checkMode(false); err != nil {
		t.Errorf("a key of nobody's: %v", err)
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add([]byte("0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4"))
	f.Add([]byte(strings.Repeat("f", 64)))
	f.Fuzz(func(t *testing.T, text []byte) {
		key, err := parseKey(text)
		if err != nil {
			return
		}
		again, err := parseKey(encodePrivateKey(key))
		if err != nil || !again.equal(key) {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
