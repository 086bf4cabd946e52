package keys

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
)

func testdata(t testing.TB, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type bip39File struct {
	Passphrase string
	Vectors    []struct{ Entropy, Mnemonic, Seed string }
}

func TestWordListIsTheBIPs(t *testing.T) {
	const want = "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda"
	if got := sha256.Sum256([]byte(english)); hex.EncodeToString(got[:]) != want {
		t.Errorf("word list has sha256 %x", got)
	}
}

func TestBIP39Vectors(t *testing.T) {
	var file bip39File
	testdata(t, "bip39.json", &file)
	if len(file.Vectors) != 24 {
		t.Fatalf("%d vectors", len(file.Vectors))
	}
	for _, v := range file.Vectors {
		entropy := secret(unhex(t, v.Entropy))
		if got := mnemonic(entropy); string(got) != v.Mnemonic {
			t.Errorf("%s: words %q", v.Entropy, []byte(got))
		}
		parsed, err := parseMnemonic([]byte("  " + strings.ToUpper(strings.ReplaceAll(v.Mnemonic, " ", " \n")) + "\t"))
		if err != nil || !bytes.Equal(parsed, entropy) {
			t.Errorf("%s: parsed %x, %v", v.Entropy, []byte(parsed), err)
		}
		if got := seed(secret(v.Mnemonic), file.Passphrase); !bytes.Equal(got, unhex(t, v.Seed)) {
			t.Errorf("%s: seed %x", v.Entropy, []byte(got))
		}
		if !publishedEntropy()[string(entropy)] {
			t.Errorf("%s: not among the published mnemonics", v.Entropy)
		}
	}
}

func TestBadMnemonics(t *testing.T) {
	good := "legal winner thank year wave sausage worth useful legal winner thank yellow"
	for name, text := range map[string]string{
		"empty":             "",
		"eleven words":      strings.TrimSuffix(good, " yellow"),
		"thirteen words":    good + " yellow",
		"checksum":          strings.Replace(good, "yellow", "year", 1),
		"two words swapped": strings.Replace(good, "legal winner", "winner legal", 1),
		"not in the list":   strings.Replace(good, "winner", "winnner", 1),
		"twenty-seven":      good + " " + good + " legal winner thank",
	} {
		_, err := parseMnemonic([]byte(text))
		if !errors.Is(err, ErrBadMnemonic) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && (strings.Contains(err.Error(), "winn") || strings.Contains(err.Error(), "yellow")) {
			t.Errorf("%s: the error quotes a word: %v", name, err)
		}
	}
}

func FuzzParseMnemonic(f *testing.F) {
	var file bip39File
	testdata(f, "bip39.json", &file)
	for _, v := range file.Vectors[:6] {
		f.Add([]byte(v.Mnemonic))
	}
	f.Add([]byte("test test test test test test test test test test test junk"))
	f.Fuzz(func(t *testing.T, text []byte) {
		entropy, err := parseMnemonic(text)
		if err != nil {
			return
		}
		again := strings.Join(strings.Fields(strings.ToLower(string(text))), " ")
		if got := mnemonic(entropy); string(got) != again {
			t.Errorf("%q parsed, spelled %q", text, []byte(got))
		}
	})
}
