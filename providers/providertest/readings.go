package providertest

import (
	"testing"
)

// A Reading is something that a provider reads apart from swaps, such as a token list or an
// event stream.
type Reading struct {
	Name string
	// Exchange is the file below Suite.Dir whose reply is lied about.
	Exchange string
	// Read lets a provider read a reply and returns the results by name, or its refusal. An
	// error without a code means that a false reply was accepted.
	Read func(t *testing.T, reply []byte) (map[string]string, error)
}

// lieToReader tells every lie about the reply of a reading.
func lieToReader(t *testing.T, s Suite, x Reading, r *record) {
	a := replyReader{suite: s, flow: x.Name, name: x.Name}
	a.read = func(body []byte) outcome {
		facets, err := x.Read(t, body)
		if err != nil {
			return refusedAt("read", err)
		}
		return outcome{facets: facets}
	}
	reply := ReadExchange(t, s.file(x.Exchange)).Response.Body
	if a.good = a.read(reply); a.good.err != nil {
		t.Fatalf("honestly: %v", a.good.err)
	}
	a.lieTo(t, r, decode(reply))
}
