package keyproxy

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
)

// FuzzToken: an accepted hash is 64 hex digits, and only the text of a token passes.
func FuzzToken(f *testing.F) {
	for _, s := range [][3]string{
		{"a", hashOf(testToken), "Bearer " + testToken}, {"a", strings.ToUpper(hashOf(testToken)), "bearer " + testToken}, {"", hashOf(testToken), "Bearer " + otherText},
		{"a", hashOf(""), "Bearer "}, {"a", testToken, testToken}, {"a", hashOf(testToken) + "00", "Bearer  " + testToken}, {"a", "zz", ""},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, name, hash, header string) {
		g, err := newGate([]Token{{name, hash}}, defaultLimits())
		if err != nil {
			return
		}
		if raw, err := hex.DecodeString(hash); err != nil || len(raw) != sha256.Size || name == "" {
			t.Fatalf("token %q with hash %q is let in", name, hash)
		}
		r := &http.Request{Header: http.Header{"Authorization": {header}}}
		in, refused := g.authenticate(r)
		_, text, _ := strings.Cut(header, " ")
		if sum := sha256.Sum256([]byte(text)); (in == nil) == (refused == nil) || in != nil && !strings.EqualFold(hex.EncodeToString(sum[:]), hash) {
			t.Fatalf("%q passes for %q", header, hash)
		}
	})
}
