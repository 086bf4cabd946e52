package refused

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"

	"swapkeep/rest"

	"github.com/ethereum/go-ethereum/common"
)

// Report returns a context, and what writes a document of the answers to the calls under it
// as JSON of plain ASCII: in all of its strings secrets are taken out and the accounts
// replaced, as in what a [Keeper] keeps. Hashes and signatures stay: where nobody signed
// they lead to nobody, and without them the answers could not be read again by a test.
func Report(ctx context.Context, accounts ...common.Address) (in context.Context, write func(document any) ([]byte, error)) {
	ctx, recorder := rest.Record(ctx)
	return ctx, func(document any) ([]byte, error) {
		b, err := json.Marshal(document)
		if err != nil {
			return nil, err
		}
		hide := redaction{secrets: recorder.Hide, accounts: accounts}
		b = ascii(stringForm.ReplaceAllFunc(b, hide.literal))
		if !json.Valid(b) {
			return nil, errors.New("the report cannot be redacted")
		}
		return b, nil
	}
}

var stringForm = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// literal is names of a string of JSON, which it reads as such, so that nothing hides
// behind its escapes.
func (d *redaction) literal(b []byte) []byte {
	var s string
	if json.Unmarshal(b, &s) != nil {
		return nil // and the document is not valid
	}
	b, err := json.Marshal(d.names(s))
	if err != nil {
		panic(err) // text
	}
	return b
}
