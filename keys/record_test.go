package keys

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// fastKDF keeps tests fast; it is the minimum that a record may use.
var fastKDF = KDF{Passes: 1, MemoryKiB: minMemoryKiB, Lanes: 1}

const testService = "swapkeep/test"

func sealed(t testing.TB) (*passKey, string) {
	t.Helper()
	key, err := newPassKey([]byte("a password"), fastKDF)
	if err != nil {
		t.Fatal(err)
	}
	text, err := key.seal(testService, "wallet/1", payload{kindMnemonic, originCreated, make(secret, 16)}.encode())
	if err != nil {
		t.Fatal(err)
	}
	return key, text
}

func TestRecordOpensOnlyUnderItsName(t *testing.T) {
	key, text := sealed(t)
	r, err := parseRecord(text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := key.open(testService, "wallet/1", r); err != nil {
		t.Errorf("own name: %v", err)
	}
	for _, other := range [][2]string{{testService, "wallet/2"}, {"swapkeep/other", "wallet/1"}, {"swapkeep/tes", "t\x00wallet/1"}} {
		if _, err := key.open(other[0], other[1], r); !errors.Is(err, ErrWrongPassword) {
			t.Errorf("as %q it opened: %v", other, err)
		}
	}
	if deriveKey([]byte("another password"), r.KDF).key.equal(key.key) {
		t.Error("two passwords give one key")
	}
}

func (s secret) equal(o secret) bool { return string(s) == string(o) }

// TestAlteredRecordsAreRefused checks that a record with any part changed does not open.
func TestAlteredRecordsAreRefused(t *testing.T) {
	key, text := sealed(t)
	for name, alter := range map[string]func(*record){
		"version 0":       func(r *record) { r.Version = 0 },
		"version 2":       func(r *record) { r.Version = 2 },
		"other kdf":       func(r *record) { r.KDF.Name = "scrypt" },
		"other cipher":    func(r *record) { r.Cipher = "none" },
		"no passes":       func(r *record) { r.KDF.Passes = 0 },
		"endless passes":  func(r *record) { r.KDF.Passes = 1 << 31 },
		"little memory":   func(r *record) { r.KDF.MemoryKiB = 8 },
		"all memory":      func(r *record) { r.KDF.MemoryKiB = 1 << 31 },
		"long work":       func(r *record) { r.KDF.MemoryKiB, r.KDF.Passes = maxMemoryKiB, 5 },
		"no lanes":        func(r *record) { r.KDF.Lanes = 0 },
		"200 lanes":       func(r *record) { r.KDF.Lanes = 200 },
		"short salt":      func(r *record) { r.KDF.Salt = r.KDF.Salt[:8] },
		"other salt":      func(r *record) { r.KDF.Salt[0] ^= 1 },
		"other passes":    func(r *record) { r.KDF.Passes++ },
		"short nonce":     func(r *record) { r.Nonce = r.Nonce[:8] },
		"other nonce":     func(r *record) { r.Nonce[0] ^= 1 },
		"no content":      func(r *record) { r.Ciphertext = nil },
		"cut content":     func(r *record) { r.Ciphertext = r.Ciphertext[:len(r.Ciphertext)-1] },
		"only the tag":    func(r *record) { r.Ciphertext = r.Ciphertext[:tagSize] },
		"changed content": func(r *record) { r.Ciphertext[0] ^= 1 },
		"changed tag":     func(r *record) { r.Ciphertext[len(r.Ciphertext)-1] ^= 1 },
	} {
		var r record
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		alter(&r)
		altered, _ := json.Marshal(r)
		parsed, err := parseRecord(string(altered))
		if err == nil {
			ring := keyRing{password: []byte("a password")}
			_, err = ring.key(parsed.KDF).open(testService, "wallet/1", parsed)
		}
		if err == nil {
			t.Errorf("%s: opened", name)
		}
	}
	for _, bad := range []string{"", "{", text[:len(text)/2], text + "x", `{"v":1}`, `[]`, strings.Replace(text, `"v":1`, `"v":1,"extra":1`, 1)} {
		if _, err := parseRecord(bad); !errors.Is(err, ErrDamaged) {
			t.Errorf("%.20q…: %v", bad, err)
		}
	}
	if _, err := parseRecord(strings.Replace(text, `"v":1`, `"v":9,"new":true`, 1)); !errors.Is(err, ErrNewer) {
		t.Errorf("newer record: %v", err)
	}
	key.key.zero()
}

func FuzzParseRecord(f *testing.F) {
	key, text := sealed(f)
	f.Add(text)
	f.Add(text[:40])
	f.Add(strings.Replace(text, `"m":8192`, `"m":4294967295`, 1))
	f.Add(strings.Replace(text, `"v":1`, `"v":2`, 1))
	original, err := parseRecord(text)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseRecord(text)
		if err != nil {
			return
		}
		if err := r.KDF.cost().check(); err != nil {
			t.Fatalf("costs %+v", r.KDF)
		}
		plain, err := key.open(testService, "wallet/1", r)
		same := string(r.Nonce) == string(original.Nonce) && string(r.Ciphertext) == string(original.Ciphertext)
		if (err == nil) != same {
			t.Fatalf("same %v, opened %v", same, err)
		}
		if err == nil {
			if _, err := parsePayload(plain); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzParsePayload(f *testing.F) {
	f.Add([]byte(payload{kindMnemonic, originImported, make(secret, 32)}.encode()))
	f.Add([]byte(payload{kindKey, originImported, append(make(secret, 31), 1)}.encode()))
	f.Add([]byte(payload{kindKey, originImported, make(secret, 32)}.encode()))
	f.Add([]byte{1})
	f.Add([]byte{9, 1, 0})
	f.Fuzz(func(t *testing.T, plain []byte) {
		p, err := parsePayload(plain)
		if err == nil && string(p.encode()) != string(plain) {
			t.Fatalf("%x encodes as %x", plain, []byte(p.encode()))
		}
	})
}

func FuzzParseIndex(f *testing.F) {
	f.Add(`{"v":1,"wallets":[{"id":"1","name":"Main","kind":"mnemonic","accounts":[{"n":0,"a":"f39fd6e51aad88f6f4ce6ab8827279cfffb92266"}]}],"pending":["2"]}`)
	f.Add(`{"v":1,"sandbox":true,"wallets":[]}`)
	f.Add(withIsolated)
	f.Add(`{"v":2}`)
	f.Add(`{"v":1,"wallets":[{"id":"1","name":"","kind":"","accounts":[]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		x, err := parseIndex(text)
		if err != nil {
			return
		}
		again, err := x.encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseIndex(again); err != nil {
			t.Fatalf("%s became %s: %v", text, again, err)
		}
	})
}
