package providertest

import (
	"testing"
)

// A Reading is what a provider reads beside its swaps: a list to choose from, a
// stream of events.
type Reading struct {
	Name string
	// Exchange is a file below Suite.Dir, whose reply is lied about.
	Exchange string
	// Read has a provider read a reply, and gives what it made of it by name, or its
	// refusal. An error without a code is a reply that was believed.
	Read func(t *testing.T, reply []byte) (map[string]string, error)
}

// lieToReader tells every lie about a reply that is read beside the swaps.
func lieToReader(t *testing.T, s Suite, x Reading, r *record) {
	a := audience{suite: s, flow: x.Name, name: x.Name}
	a.hears = func(body []byte) outcome {
		facets, err := x.Read(t, body)
		if err != nil {
			return refusedAt("read", err)
		}
		return outcome{facets: facets}
	}
	reply := ReadExchange(t, s.file(x.Exchange)).Response.Body
	if a.good = a.hears(reply); a.good.err != nil {
		t.Fatalf("honestly: %v", a.good.err)
	}
	a.lieTo(t, r, decode(reply))
}
