package keys

import (
	"fmt"
	"io"
)

const redacted = "[secret]"

// secret is key material. Printing or encoding it shows only a placeholder.
type secret []byte

func (secret) Format(f fmt.State, _ rune)     { _, _ = io.WriteString(f, redacted) }
func (secret) String() string                 { return redacted }
func (secret) MarshalText() ([]byte, error)   { return []byte(redacted), nil }
func (secret) MarshalJSON() ([]byte, error)   { return []byte(`"` + redacted + `"`), nil }
func (secret) MarshalBinary() ([]byte, error) { return []byte(redacted), nil }

func (s secret) zero() { clear(s) }

// Words are the mnemonic of a new wallet. Show them, then call Zero. Printing or encoding
// them shows nothing; only Reveal returns the words.
type Words struct{ secret }

// Reveal returns the words, separated by single spaces. The slice is the only copy and is
// wiped by Zero.
func (w *Words) Reveal() []byte { return w.secret }

// Zero wipes the words. It may be repeated.
func (w *Words) Zero() { w.zero() }
