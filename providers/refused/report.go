package refused

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"

	"swapkeep/rest"

	"github.com/ethereum/go-ethereum/common"
)

// Report returns a context, and a function that encodes a document of the replies to the
// calls under it as ASCII JSON. In all strings secrets are removed and the accounts
// replaced, as a [Keeper] does. Hashes and signatures stay: where the user signed nothing
// they identify nobody, and tests could not parse the replies without them.
func Report(ctx context.Context, accounts ...common.Address) (in context.Context, write func(document any) ([]byte, error)) {
	ctx, recorder := rest.Record(ctx)
	return ctx, func(document any) ([]byte, error) {
		b, err := json.Marshal(document)
		if err != nil {
			return nil, err
		}
		hide := redaction{secrets: recorder.Redact, accounts: accounts}
		b = ascii(stringForm.ReplaceAllFunc(b, hide.redactLiteral))
		if !json.Valid(b) {
			return nil, errors.New("the report cannot be redacted")
		}
		return b, nil
	}
}

var stringForm = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// redactLiteral applies names to a JSON string. It decodes the string first, so that escapes hide
// nothing.
func (d *redaction) redactLiteral(b []byte) []byte {
	var s string
	if json.Unmarshal(b, &s) != nil {
		return nil // which makes the document invalid
	}
	b, err := json.Marshal(d.redactAccounts(s))
	if err != nil {
		panic(err) // text
	}
	return b
}
