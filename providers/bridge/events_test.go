package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"swapkeep/providers/providertest"
	"swapkeep/swap"
)

// Readings are what the provider reads besides swaps: the frames that are pushed to it.
var Readings = []providertest.Reading{{Name: "events", Exchange: "base-usdc-arbitrum.events.json", Read: readEvents}}

// readEvents lets the provider watch an order while frames arrive: one about another order,
// and one about this. A lie after which nothing is reported is harmless, since orders are
// polled anyway; more reports than there were events mean that a lie was believed.
func readEvents(t *testing.T, reply []byte) (map[string]string, error) {
	var frames []json.RawMessage
	if err := json.Unmarshal(reply, &frames); err != nil {
		return nil, err
	}
	lines := make([]string, len(frames))
	for i, f := range frames {
		lines[i] = string(f)
	}
	stream, hangUp := fakeStreamOf(lines...)
	defer hangUp()
	p := providerOf(t, nil)
	p.socket = stream
	var claims []swap.Claim
	err := p.Watch(t.Context(), minedOrder(t, "base-usdc-arbitrum", bridgedUSDC(), time.Minute), func(c swap.Claim) { claims = append(claims, c) })
	switch {
	case err == nil || errors.Is(err, t.Context().Err()):
		return nil, fmt.Errorf("a stream that hung up ended with %w", err)
	case len(claims) == 0:
		return nil, swap.Refuse(swap.ProviderInvalidResponse, "nothing was heard of the order")
	case len(claims) > 1:
		return nil, fmt.Errorf("one event made %d claims: %+v", len(claims), claims)
	}
	c := claims[0]
	return map[string]string{"claim.state": string(c.State), "claim.providerStatus": c.ProviderStatus, "claim.reason": c.Reason, "claim.tx": c.Tx.Hex(), "claim.chain": fmt.Sprint(c.Chain)}, nil
}
