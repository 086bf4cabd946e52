package keys

import "fmt"

// A kind is the type of a wallet's secret, an origin is where it came from. Both are
// encrypted with it. The values are stored, so existing ones never change.
type (
	kind   byte
	origin byte
)

const (
	kindMnemonic kind = 1
	kindKey      kind = 2
)

const (
	originCreated  origin = 1
	originImported origin = 2
)

var kindNames = map[kind]string{kindMnemonic: "mnemonic", kindKey: "key"}

// A payload is the plaintext of a record: kind, origin, then the secret, which is a
// mnemonic's entropy of 16 to 32 bytes or a private key of 32 bytes.
type payload struct {
	kind   kind
	origin origin
	secret secret
}

func (p payload) encode() secret {
	return append(secret{byte(p.kind), byte(p.origin)}, p.secret...)
}

func parsePayload(plain secret) (payload, error) {
	if len(plain) < 2 {
		return payload{}, fmt.Errorf("%w: empty wallet", ErrDamaged)
	}
	p := payload{kind(plain[0]), origin(plain[1]), plain[2:]}
	size := len(p.secret)
	switch {
	case kindNames[p.kind] == "":
		return payload{}, fmt.Errorf("%w: wallet kind %d", ErrNewer, p.kind)
	case p.origin != originCreated && p.origin != originImported:
		return payload{}, fmt.Errorf("%w: wallet origin %d", ErrDamaged, p.origin)
	case p.kind == kindKey && !validKey(p.secret):
		return payload{}, fmt.Errorf("%w: no private key", ErrDamaged)
	case size < 16 || size > 32 || size%4 != 0:
		return payload{}, fmt.Errorf("%w: %d bytes of entropy", ErrDamaged, size)
	}
	return p, nil
}

// checkMode decides whether a wallet may be imported or opened in this mode. Sandbox
// signatures are valid on the real chains, so no key may be used in both; published keys
// can be used by anyone and are refused outside the sandbox.
func (p payload) checkMode(sandbox bool) error {
	published, ofTests := p.published()
	switch {
	case sandbox && p.origin == originImported && !ofTests:
		return ErrSandboxImport
	case !sandbox && published:
		return ErrTestKey
	}
	return nil
}

// published reports whether the secret is publicly known, and whether it belongs to the
// development chains' mnemonic.
func (p payload) published() (anyone, ofTests bool) {
	if p.kind == kindKey {
		at := addressOf(p.secret)
		return publishedAddresses()[at] || publishedKeys()[at] || patterned(p.secret), testAddresses()[at]
	}
	return publishedEntropy()[string(p.secret)], isTestMnemonic(p.secret)
}
