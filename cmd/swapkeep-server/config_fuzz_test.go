package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// FuzzConfig: no file crashes the parser, as the proxy's configuration or as its list of
// tokens, and an accepted file is within its limits.
func FuzzConfig(f *testing.F) {
	for _, s := range []string{
		"listen = \"127.0.0.1:0\"\nhosts = [\"a\"]\n[[tokens]]\nname = \"one\"\nsha256 = \"00\"\n", "tokens_file = \"x\"\n[limits]\ndrain = \"5s\"\nrate = 1e400\n",
		"[fee]\nbips = 20\nrecipient = \"0x90F79bf6EB2c4f870365E785982E1f101E93b906\"\n[[tokens]]\n", "[tls]\ncert = \"a\"\n", "tokens = 1", "[[limits]]", "a = 1", "\x00",
	} {
		f.Add(s)
	}
	path := filepath.Join(f.TempDir(), "proxy.toml")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = tokenSource{path, path}.read()
		c, err := readConfig(path)
		if err != nil {
			return
		}
		if c.Limits.Drain <= 0 || time.Duration(c.Limits.Drain) > 10*time.Minute || c.Limits.Connections < 1 || (c.Tokens == nil) == (c.TokensFile == "") {
			t.Fatalf("%q is taken as %+v", text, c)
		}
		_, _ = c.proxyConfig(false, "key")
	})
}
