package intent_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"
	"unicode"

	"swapkeep/providers/intent"
	"swapkeep/providers/providertest"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// listed are the displayed tokens of the recorded list, by position.
var listed = []common.Address{usdcBase, native}

// readTokens lists the tokens of Base through a provider, one facet per token, so that a
// lie about one token may change no other, and one for any further tokens.
func readTokens(t *testing.T, reply []byte) (map[string]string, error) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Date", recorded.Format(http.TimeFormat))
		_, _ = w.Write(reply) // a client that is gone reports its own error
	}))
	defer s.Close()
	p := newProvider(t, s.URL, func() time.Time { return recorded }, providertest.Limits(10*time.Second)).(*intent.Provider)
	list, err := p.Tokens(t.Context(), 8453)
	if err != nil {
		return nil, err
	}
	facets := map[string]string{}
	for _, token := range list {
		if err := fitToShow(token); err != nil {
			return nil, err
		}
		raw, err := json.Marshal(token)
		if err != nil {
			return nil, err
		}
		name := "other"
		if i := slices.Index(listed, token.Address); i >= 0 {
			name = fmt.Sprintf("token%d", i)
		}
		facets[name] += string(raw)
	}
	return facets, nil
}

// fitToShow checks what must hold for every token, whatever the provider says of it.
func fitToShow(x tokens.Token) error {
	if x.Chain != 8453 || x.Verified || x.List != "intent" || x.Symbol == "" || x.Name == "" || len(x.Symbol)+len(x.Name) > 256 ||
		slices.ContainsFunc([]rune(x.Symbol+x.Name), func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("a token that may not be shown: %+v", x)
	}
	return nil
}
