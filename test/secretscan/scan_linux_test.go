package secretscan

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var (
	password = "pl\"nted & <Kept> pass"
	keyBytes = []byte{0x9f, 3, 7, 0xfe, 0xfb, 0xff, 12, 200, 31, 44, 5, 66, 7, 88, 9, 110, 11, 12, 130, 14, 150, 16, 17, 180, 19, 200, 21, 220, 23, 24, 250, 26}
	phrase   = "ladder quiz ostrich velvet cabin muffin orbit tunnel eager sphere glimpse unfold"
)

func search(t *testing.T) *Search {
	t.Helper()
	s, err := New(Text("password", password), Key("key", keyBytes), Words("wallet", phrase))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func quoted(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestForms tries every way a secret may be written to a file, and texts that contain none.
func TestForms(t *testing.T) {
	list := strings.Fields(phrase)
	tests := []struct{ name, text, secret string }{
		{"raw", "x" + password + "y", "password"},
		{"half", "first half: " + password[:len(password)/2+2] + "…", ""}, // a short secret is searched for whole
		{"JSON", quoted(t, map[string]string{"p": password}), "password"},
		{"Go", fmt.Sprintf("%q", password), "password"},
		{"bytes", fmt.Sprintf("%v", []byte(password)), "password"},
		{"address", "https://x/?k=" + url.QueryEscape(password), "password"},
		{"base64", base64.StdEncoding.EncodeToString([]byte("u" + password + "!")), "password"},
		{"basic", base64.StdEncoding.EncodeToString([]byte("me:" + password)), "password"},
		{"UTF-16", inUTF16([]byte(password)), "password"},
		{"hex", "0x" + hex.EncodeToString(keyBytes), "key"},
		{"capitals", strings.ToUpper(hex.EncodeToString(keyBytes)), "key"},
		{"half of hex", hex.EncodeToString(keyBytes)[:34], "key"},
		{"second half", string(keyBytes[15:]), "key"},
		{"raw key", "\x00" + string(keyBytes), "key"},
		{"reversed", string(reversed(keyBytes)), "key"},
		{"base64 of a key", base64.URLEncoding.EncodeToString(append([]byte{1, 2}, keyBytes...)), "key"},
		{"JSON of a key", quoted(t, append([]int{1}, ints(keyBytes)...)), "key"},
		{"phrase", "words: " + phrase, "wallet"},
		{"array", quoted(t, list[4:7]), "wallet"},
		{"numbered", "4. Velvet\n5. Cabin\n6. Muffin\n", "wallet"},
		{"two words", "the velvet cabin is far away", ""},
		{"other order", "cabin velvet ostrich quiz ladder muffin", ""},
		{"far apart", "velvet" + strings.Repeat(" ", 40) + "cabin" + strings.Repeat(" ", 40) + "muffin", ""},
		{"nothing", strings.Repeat("order accepted at 0x52908400098527886E0F7030069857D2E4169EE7 ", 100), ""},
	}
	for _, tt := range tests {
		found := search(t).Bytes(tt.name, []byte(tt.text))
		if tt.secret == "" {
			if len(found) != 0 {
				t.Errorf("%s: found %v, want none", tt.name, found)
			}
			continue
		}
		if len(found) == 0 {
			t.Errorf("%s: %s is not found", tt.name, tt.secret)
		}
		for _, f := range found {
			if f.Secret != tt.secret || f.Place != tt.name {
				t.Errorf("%s: found %v, want %s in %s", tt.name, f, tt.secret, tt.name)
			}
			if strings.Contains(f.String(), password) {
				t.Error("a finding shows the secret")
			}
		}
	}
}

func ints(b []byte) (out []int) {
	for _, c := range b {
		out = append(out, int(c))
	}
	return out
}

// TestAcrossChunks checks that a secret that spans two chunks is found, wherever it is cut.
func TestAcrossChunks(t *testing.T) {
	for at := chunk - 60; at < chunk+200; at += 7 {
		for name, secret := range map[string]string{"password": password, "wallet": "Velvet, Cabin, Muffin"} {
			b := bytes.Repeat([]byte{'.'}, 2*chunk)
			copy(b[at:], secret)
			found, err := search(t).Reader("stream", bytes.NewReader(b))
			if err != nil || len(found) != 1 || found[0].Secret != name || found[0].Offset < int64(at) || found[0].Offset > int64(at+len(secret)) {
				t.Fatalf("%s at %d: %v, %v", name, at, found, err)
			}
		}
	}
}

func TestDir(t *testing.T) {
	dir, s := t.TempDir(), search(t)
	for name, text := range map[string]string{"a/log": "clean", "a/b/db": "\x00" + password, "c/" + hex.EncodeToString(keyBytes): "clean"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := s.Dir(dir)
	if err != nil || len(found) != 2 {
		t.Errorf("Dir finds %v, %v; want two secrets", found, err)
	}
	if files, n := s.Searched(); files != 3 || n == 0 {
		t.Errorf("looked at %d files, %d bytes", files, n)
	}
	if _, err := s.Dir(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there is said to be clean")
	}
}

func TestProcess(t *testing.T) {
	s := search(t)
	for name, cmd := range map[string]*exec.Cmd{"arguments": exec.Command("sleep", "60"), "environment": exec.Command("sleep", "60")} {
		if name == "arguments" {
			cmd.Args[0] = password
		} else {
			cmd.Env = []string{"KEY=" + hex.EncodeToString(keyBytes)}
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		found, err := s.Process(cmd.Process.Pid)
		_, _ = cmd.Process.Kill(), cmd.Wait()
		if err != nil || len(found) != 1 {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}

func TestShortSecretsAreRefused(t *testing.T) {
	if _, err := New(Text("pin", "1234")); err == nil {
		t.Error("a secret of four letters is searched for")
	}
}
