package dialog

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"
)

// FuzzAnswer checks that no answer of a pinentry is an OK that is not there, hangs or panics.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{"OK\n", "OK Pleased to meet you\n", "D kw%6Dt\nOK\n", "S PINENTRY_LAUNCHED 1\n# x\nD a\nD b\nOK\n", "ERR 83886179 Operation cancelled <Pinentry>\n", "ERR x\n", "D %zz\nOK\n", "OK", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		c := assuan{io.Discard, bufio.NewReader(bytes.NewReader(said))}
		_, err := c.answer()
		var refused *assuanError
		ok := bytes.HasPrefix(said, []byte("OK")) || bytes.Contains(said, []byte("\nOK"))
		if err == nil && !ok {
			t.Fatalf("%q is an OK", said)
		}
		if errors.As(err, &refused) && !bytes.Contains(said, []byte("ERR ")) {
			t.Fatalf("%q is an ERR", said)
		}
	})
}
