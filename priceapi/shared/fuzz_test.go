package shared

import (
	"bytes"
	"errors"
	"net"
	"strings"
	"testing"
)

// FuzzUnsealed checks that a value in Redis is accepted only if the service stored it under
// this name for this purpose.
func FuzzUnsealed(f *testing.F) {
	s := newSeals(bytes.Repeat([]byte{7}, 32))
	f.Add("board", "board", []byte("a board"), []byte{})
	f.Add("a", "b", []byte{}, sealed(s.answer, "a", []byte("x")))
	f.Add("", "", []byte(nil), bytes.Repeat([]byte{0}, sealSize))
	f.Add("a", "ab", []byte("b"), sealed(s.table, "board", nil))
	f.Fuzz(func(t *testing.T, name, other string, body, value []byte) {
		for _, key := range [][]byte{s.table, s.answer, s.client} {
			v := sealed(key, name, body)
			if got, ok := unsealed(key, name, v); !ok || !bytes.Equal(got, body) {
				t.Fatalf("%q is lost", body)
			}
			if _, ok := unsealed(key, other, v); ok != (name == other) {
				t.Fatalf("what is sealed as %q counts as %q", name, other)
			}
			if got, ok := unsealed(key, name, value); ok && !bytes.Equal(sealed(key, name, got), value) {
				t.Fatalf("%x counts as %q", value, got)
			}
			for _, wrong := range [][]byte{v[1:], append(bytes.Clone(v), 0), value} {
				if _, ok := unsealed(key, name, wrong); ok && !bytes.Equal(wrong, v) && len(wrong) <= len(v)+1 && !bytes.Equal(sealed(key, name, wrong[sealSize:]), wrong) {
					t.Fatalf("%x counts", wrong)
				}
			}
		}
		if _, ok := unsealed(s.answer, name, sealed(s.table, name, body)); ok {
			t.Fatal("a sealed table is accepted as an answer")
		}
		if h := hashedName(s.client, name); len(h) != 32 || len(name) > 3 && strings.Contains(h, name) && strings.Trim(name, "0123456789abcdef") != "" {
			t.Fatalf("%q is hidden as %q", name, h)
		}
	})
}

// FuzzURL checks that a remote Redis is reached only by verified TLS and with a password,
// and that no error repeats the URL.
func FuzzURL(f *testing.F) {
	for _, s := range []string{
		"redis://:password@127.0.0.1:6379/0", "rediss://:password@redis.example:6379/0", "redis://:password@redis.example/0", "rediss://:p@redis.example?skip_verify=true", "unix://:p@/run/redis.sock",
		"redis://127.0.0.1", "redis://:p@localhost?db=-1", "redis://:p@[::1]:x", "http://a", "redis://:p@127.0.0.1:6379/0?max_retries=99", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, url string) {
		c, err := configure(url)
		if err != nil {
			if !errors.Is(err, ErrURL) && !errors.Is(err, ErrPassword) && !errors.Is(err, ErrPlain) || len(url) > 90 && strings.Contains(err.Error(), url) {
				t.Fatalf("%q: %v", url, err)
			}
			return
		}
		if c.MaxRetries != -1 || c.ClientName != "" || c.PoolSize != poolSize || !c.ContextTimeoutEnabled {
			t.Fatalf("%q changes what is ours to say: %+v", url, c)
		}
		if c.Network == "unix" {
			return
		}
		host, _, err := net.SplitHostPort(c.Addr)
		ip := net.ParseIP(host)
		if err != nil || c.Password == "" || c.TLSConfig == nil && host != "localhost" && (ip == nil || !ip.IsLoopback()) || c.TLSConfig != nil && c.TLSConfig.InsecureSkipVerify {
			t.Fatalf("%q goes to %s", url, c.Addr)
		}
	})
}
