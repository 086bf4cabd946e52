package gasless

import (
	"encoding/json"
	"math/big"
	"strings"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// Decode says what signing an order would do, from the typed data alone. It refuses typed
// data that it does not fully understand, and anything that no honest order for the terms
// contains. It is pure and may be repeated.
func (p *Provider) Decode(t swap.Terms, s swap.Step) (swap.Effect, error) {
	if s.Kind != swap.TypedStep || s.TypedData == nil || s.Call != nil {
		return swap.Effect{}, refuse(swap.Undecodable, "kind", "has no step of kind %q", s.Kind)
	}
	o, err := decodeTyped(t, *s.TypedData)
	if err != nil {
		return swap.Effect{}, err
	}
	return o.effect(t), nil
}

// decodeTyped parses an order to be signed. It then builds the typed data again from the
// terms and the parsed values: if both have the same hash, no field was overlooked.
func decodeTyped(t swap.Terms, given apitypes.TypedData) (order, error) {
	if err := checkTerms(t); err != nil {
		return order{}, err
	}
	v, err := venueOf(t.SrcChain, func(v venue) bool { return v.primaryType == given.PrimaryType })
	if err != nil {
		return order{}, refuse(swap.Undecodable, "primaryType", "wants a %q signed: only orders of one maker and one token on each side are", given.PrimaryType)
	}
	if err := v.checkDomain(given.Domain); err != nil {
		return order{}, err
	}
	raw, err := json.Marshal(given.Message)
	if err != nil {
		return order{}, refuse(swap.Undecodable, "message", "wants something signed that cannot be read: %v", err)
	}
	o, err := v.expectedUnder(t).read(raw, minReceived(t))
	if err != nil {
		return order{}, err
	}
	if !sameHash(given, o.typedData()) {
		return order{}, refuse(swap.Undecodable, "typed", "wants something signed that is no %s of its contract on chain %d", v.primaryType, v.chain)
	}
	return o, nil
}

// checkDomain refuses an EIP-712 domain other than the venue's own.
func (v venue) checkDomain(d apitypes.TypedDataDomain) error {
	switch {
	case d.ChainId == nil || (*big.Int)(d.ChainId).Cmp(new(big.Int).SetUint64(v.chain)) != 0:
		return refuse(swap.NotAsAccepted, "chainId", "wants an order signed for another chain than %d", v.chain)
	case !strings.EqualFold(d.VerifyingContract, v.settlement.Hex()):
		return refuse(swap.NotPinned, "verifyingContract", "wants an order signed for %q, which is not its built-in contract on chain %d", d.VerifyingContract, v.chain)
	case d.Name != v.domain || d.Version != domainVersion || d.Salt != "":
		return refuse(swap.Undecodable, "domain", "wants an order signed in a domain that is not its contract's")
	}
	return nil
}

func (o order) effect(t swap.Terms) swap.Effect {
	to := o.core.buy
	if to == nativePlaceholder {
		to = common.Address{}
	}
	return swap.Effect{
		Kind: swap.Signed, Chain: t.SrcChain, Target: o.expected.settlement, Settler: o.expected.settlement,
		Spends:   []swap.Spend{{Token: o.core.sell, Amount: new(big.Int).Set(o.core.sellAmount)}},
		Receives: []swap.Receive{{Token: to, To: o.core.receiver, Min: new(big.Int).Set(o.core.minBuy)}},
		Pays:     o.fees(o.expected), Deadline: o.core.expiresAt(),
	}
}
