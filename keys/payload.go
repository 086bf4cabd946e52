package keys

import "fmt"

// A kind says what a wallet's secret is; an origin where it came from. Both
// are encrypted with it. Values are stored, so they only ever grow.
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

// A payload is what a record encrypts: kind, origin, then the secret: the
// entropy of a mnemonic, 16 to 32 bytes, or a private key, 32 bytes.
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

// admit applies the two modes' rules to a wallet that is being taken in or
// opened: sandbox signatures are valid on the real chains, so no key may be in
// both worlds, and published keys belong to everyone.
func (p payload) admit(sandbox bool) error {
	published, ofTests := p.published()
	switch {
	case sandbox && p.origin == originImported && !ofTests:
		return ErrSandboxImport
	case !sandbox && published:
		return ErrTestKey
	}
	return nil
}

// published reports whether everyone knows the secret, and whether it is the
// development chains' own.
func (p payload) published() (anyone, ofTests bool) {
	if p.kind == kindKey {
		at := addressOf(p.secret)
		return publishedAddresses()[at] || publishedKeys()[at] || patterned(p.secret), testAddresses()[at]
	}
	return publishedEntropy()[string(p.secret)], isTestMnemonic(p.secret)
}
