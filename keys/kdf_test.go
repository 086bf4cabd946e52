package keys

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/pbkdf2"
	"golang.org/x/crypto/scrypt"
)

// TestStretchVectors uses the vectors of RFC 7914, sections 11 and 12.
func TestStretchVectors(t *testing.T) {
	for _, v := range []struct {
		password, salt string
		rounds         int
		want           string
	}{
		{"passwd", "salt", 1, "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783"},
		{"Password", "NaCl", 80000, "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d"},
	} {
		got := hex.EncodeToString(pbkdf2Key(sha256.New, []byte(v.password), []byte(v.salt), v.rounds, 64))
		if got != v.want {
			t.Errorf("pbkdf2 of %s: %s", v.password, got)
		}
	}
	for _, v := range []struct {
		password, salt string
		n, r, p        int
		want           string
	}{
		{"", "", 16, 1, 1, "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"},
		{"password", "NaCl", 1024, 8, 16, "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"},
		{"pleaseletmein", "SodiumChloride", 16384, 8, 1, "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"},
	} {
		if got := hex.EncodeToString(scryptKey([]byte(v.password), []byte(v.salt), v.n, v.r, v.p, 64)); got != v.want {
			t.Errorf("scrypt of %q: %s", v.password, got)
		}
	}
}

// TestStretchAsTheLibraries compares both derivations with the libraries'.
func TestStretchAsTheLibraries(t *testing.T) {
	text := func(n int) []byte {
		b := make([]byte, n)
		_, _ = rand.Read(b)
		return b
	}
	for _, n := range []int{0, 1, 63, 64, 65, 127, 128, 129, 300} {
		for name, sum := range map[string]func() hash.Hash{"sha256": sha256.New, "sha512": sha512.New} {
			password, salt, size := text(n), text(n%40), 1+n
			if want := pbkdf2.Key(password, salt, 3, size, sum); !bytes.Equal(pbkdf2Key(sum, password, salt, 3, size), want) {
				t.Errorf("pbkdf2 with %s differs at %d bytes", name, n)
			}
		}
		password, salt := text(n), text(n)
		for _, s := range [][3]int{{2, 1, 1}, {16, 3, 2}, {256, 8, 1}, {64, 1, 5}} {
			want, err := scrypt.Key(password, salt, s[0], s[1], s[2], 32)
			if err != nil || !bytes.Equal(scryptKey(password, salt, s[0], s[1], s[2], 32), want) {
				t.Errorf("scrypt %v differs at %d bytes, %v", s, n, err)
			}
		}
	}
}

// BenchmarkScrypt compares our scrypt with the library's, 16 MiB each.
func BenchmarkScrypt(b *testing.B) {
	for name, derive := range map[string]func(){
		"ours":    func() { scryptKey([]byte("password"), []byte("salt"), 1<<14, 8, 1, 32) },
		"library": func() { _, _ = scrypt.Key([]byte("password"), []byte("salt"), 1<<14, 8, 1, 32) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				derive()
			}
		})
	}
}

// TestWhatAGuessCosts checks the key derivation that a new vault writes into each record,
// which is the cost of a guess for whoever has the item.
func TestWhatAGuessCosts(t *testing.T) {
	if want := (KDF{Passes: 3, MemoryKiB: 64 << 10, Lanes: 4}); DefaultKDF != want {
		t.Errorf("new wallets are stretched with %+v, want %+v", DefaultKDF, want)
	}
	files, err := OpenFiles(filepath.Join(t.TempDir(), "keys"))
	if err != nil {
		t.Fatal(err)
	}
	store, err := NewStore(files, "cost", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := New(store, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	w, words, err := v.Create(t.Context(), "", 12, []byte("seven purple llamas dance"))
	if err != nil {
		t.Fatal(err)
	}
	words.Zero()
	text, err := store.Get(t.Context(), walletItem(w.ID))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := parseRecord(text); err != nil || r.KDF.Name != kdfName || r.KDF.cost() != DefaultKDF {
		t.Errorf("the record says %+v, %v", r.KDF, err)
	}
}
