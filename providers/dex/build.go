package dex

import (
	"bytes"
	"context"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"time"

	"swapkeep/chain"
	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common/hexutil"
)

const (
	// swapLife is the longest deadline requested for the calldata.
	swapLife = 10 * time.Minute
	// maxGas is the highest gas limit of a transaction (EIP-7825).
	maxGas = 1 << 24
	// minGas is what the cheapest transaction costs.
	minGas = 21_000
	// maxCalldata, in bytes, is far above the longest route that is understood.
	maxCalldata = 32 << 10
)

// transaction is the swap object in the reply to POST /swap. Its gas prices are not read:
// the wallet prices its own transactions.
type transaction struct {
	To       *address       `json:"to"`
	From     *address       `json:"from"`
	Data     *string        `json:"data"`
	Value    *wire.Quantity `json:"value"`
	ChainID  *wire.Quantity `json:"chainId"`
	GasLimit *wire.Quantity `json:"gasLimit"`
}

// Build turns an offer into steps within the terms. An auction has one step, the order to
// sign. A swap that needs a permit has two: the permit to sign, and a late swap, whose
// stated effect the call of [Provider.Late] must match. Any other swap is one call, whose
// calldata is requested and decoded here. Build may be repeated. A refusal with
// [swap.QuoteExpired] means that a fresh quote is needed.
func (p *Provider) Build(ctx context.Context, o swap.Offer, t swap.Terms) (swap.Built, error) {
	s, err := p.checkOffer(o, t)
	if err != nil {
		return swap.Built{}, err
	}
	built := swap.Built{Settlement: swap.ByOwnCall, Spender: s.pair.spender()}
	if s.order != nil {
		typed := s.order.typed(t.SrcChain)
		built.Settlement, built.Steps = swap.ByProvider, []swap.Step{{Kind: swap.TypedStep, Typed: &typed}}
		return built, nil
	}
	if s.permit != nil {
		typed := s.permit.typed(t.SrcChain)
		built.Steps = []swap.Step{{Kind: swap.TypedStep, Typed: &typed}, {Kind: swap.DeferredStep, Effect: s.effect()}}
		return built, nil
	}
	call, err := p.fetch(ctx, s, nil)
	if err != nil {
		return swap.Built{}, err
	}
	built.Steps = []swap.Step{{Kind: swap.CallStep, Call: &call}}
	return built, nil
}

// A checkedOffer is an offer that has not expired, matches its quote when that is read again,
// and is for the terms.
type checkedOffer struct {
	parsedQuote
	terms swap.Terms
	pair  tokenPair
	now   time.Time
}

// checkOffer checks an offer, which may come from storage, against the terms. The result rests
// on the offer's quote, not on its other stored fields.
func (p *Provider) checkOffer(o swap.Offer, t swap.Terms) (checkedOffer, error) {
	now := p.now()
	if !now.Before(o.Expires) || !now.Before(t.Deadline) {
		return checkedOffer{}, refuse(swap.QuoteExpired, "expires", "the quote has expired; get a new one")
	}
	again, err := p.sameSwap(o, t)
	if err != nil {
		return checkedOffer{}, err
	}
	pr, err := checkTerms(t)
	if err != nil {
		return checkedOffer{}, err
	}
	if again.order != nil {
		if err := again.order.checkEndsBy(t.Deadline); err != nil {
			return checkedOffer{}, err
		}
	}
	return checkedOffer{again, t, pr, now}, again.checkLifetime(now)
}

// deadline returns the deadline to request for the calldata: soon, within the consent, and
// not after the permit that the swap needs.
func (s checkedOffer) deadline() time.Time {
	d := earliest(s.now.Add(swapLife), s.terms.Deadline)
	if s.permit != nil {
		d = earliest(d, s.permit.usableUntil())
	}
	return d
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// effect returns what a late swap will do, as decoding its calldata reports it. The digest
// covers neither its deadline nor a minimum above the floor.
func (s checkedOffer) effect() swap.Effect {
	m := machine{t: s.terms, pair: s.pair, minOut: s.offer.MinOut, payments: s.offer.Fees, permit: &signedPermit{permit: *s.permit}}
	return m.effect(earliest(s.terms.Deadline, s.permit.usableUntil()))
}

// fetch requests the calldata, with the signed permit if there is one, and refuses it
// unless it does what was quoted with that permit and no other. It may be repeated.
func (p *Provider) fetch(ctx context.Context, s checkedOffer, signed *signedPermit) (chain.Call, error) {
	body := s.swapRequest(signed)
	reply, err := p.api.Do(ctx, rest.Call{Method: http.MethodPost, Path: "/swap", Body: body, Repeatable: true})
	if err != nil {
		return chain.Call{}, service.Refusal(err)
	}
	call, err := readSwap(reply.Body, s.terms)
	if err != nil {
		return chain.Call{}, err
	}
	effect, err := p.Decode(s.terms, swap.Step{Kind: swap.CallStep, Call: &call})
	if err != nil {
		return chain.Call{}, err
	}
	if err := s.checkAsQuoted(effect); err != nil {
		return chain.Call{}, err
	}
	var carried *signedPermit
	if len(effect.Approves) > 0 {
		if carried, err = permitIn(s.terms, s.pair, call); err != nil {
			return chain.Call{}, err
		}
	}
	if s.quote.hasForeignTag(call.Data) {
		p.onAnomaly("the tag of the calldata has another quote's id")
	}
	return call, carried.checkSame(signed)
}

// checkSame requires calldata to carry exactly the permit and signature that were sent for it.
func (s *signedPermit) checkSame(signed *signedPermit) error {
	switch {
	case s == nil && signed == nil:
		return nil
	case s == nil:
		return refuse(swap.NotAsAccepted, "permit", "the calldata leaves out the signed permit")
	case signed == nil:
		return refuse(swap.NotAsAccepted, "permit", "the calldata carries a permit that nobody signed")
	case !s.is(signed.permit) || !bytes.Equal(s.signature, signed.signature):
		return refuse(swap.NotAsAccepted, "permit", "the calldata carries another permit than was signed")
	}
	return nil
}

// checkAsQuoted compares what the calldata does with the quote that it was built from. The terms
// bound both; without this check the offer shown could misstate the call within those
// bounds.
func (s checkedOffer) checkAsQuoted(f swap.Effect) error {
	least, deadline := new(big.Int), s.deadline()
	for _, r := range f.Receives {
		least.Add(least, r.Min)
	}
	switch {
	case !slices.Equal(f.Pays, s.offer.Fees):
		return refuse(swap.NotAsAccepted, "fee", "the calldata pays other fees than the quote shows")
	case least.Cmp(s.offer.MinOut) < 0:
		return refuse(swap.NotAsAccepted, "minAmountOut", "the calldata enforces less than the quote's minimum").WithAmounts(swap.OfOutput, least, s.offer.MinOut)
	case !f.Deadline.IsZero() && (f.Deadline.After(deadline) || !f.Deadline.After(s.now)):
		return refuse(swap.NotAsAccepted, "deadline", "the swap's deadline %s is not the one asked for", f.Deadline.UTC().Format(time.RFC3339))
	}
	return nil
}

// sameSwap checks that an offer is for the terms and matches its quote, and returns it as
// the quote has it.
func (p *Provider) sameSwap(o swap.Offer, t swap.Terms) (parsedQuote, error) {
	r := o.Request
	list := []wire.Echo{
		{Field: "provider", Present: true, Matches: t.Provider == swap.DEX && o.Provider == swap.DEX},
		{Field: "account", Present: true, Matches: r.Account == t.Account},
		{Field: "srcChainId", Present: true, Matches: r.SrcChain == t.SrcChain && r.DstChain == t.DstChain},
		{Field: "tokenIn", Present: true, Matches: r.TokenIn == t.TokenIn},
		{Field: "tokenOut", Present: true, Matches: r.TokenOut == t.TokenOut},
		{Field: "amountIn", Present: r.AmountIn != nil && t.AmountIn != nil, Matches: t.AmountIn != nil && r.AmountIn != nil && r.AmountIn.Cmp(t.AmountIn) == 0},
		{Field: "recipient", Present: true, Matches: r.Recipient == t.Recipient},
		{Field: "feeBps", Present: true, Matches: r.FeeBps == t.FeeBps && r.FeeReceiver == t.FeeReceiver},
	}
	for _, c := range list {
		if !c.Present || !c.Matches {
			return parsedQuote{}, refuse(swap.NotAsAccepted, c.Field, "the offer is for another %s than the terms", c.Field)
		}
	}
	again, err := p.readQuote(o.Raw, r)
	if err != nil {
		return parsedQuote{}, err
	}
	switch q := again.offer; {
	case q.Routing != o.Routing || o.MinOut == nil || q.MinOut.Cmp(o.MinOut) != 0 || !slices.Equal(q.Fees, o.Fees):
		return parsedQuote{}, refuse(swap.NotAsAccepted, "minAmountOut", "the offer is not what its quote says")
	case t.MinOut == nil || q.MinOut.Cmp(t.MinOut) < 0:
		return parsedQuote{}, refuse(swap.NotAsAccepted, "minOut", "the quote's minimum is below the accepted floor").WithAmounts(swap.OfOutput, q.MinOut, t.MinOut)
	}
	return again, nil
}

// swapRequest writes the body of POST /swap. Quote and permit are inserted as they came:
// encoding them again would change their bytes. Without a permit both permitData and
// signature are left out, never null.
func (s checkedOffer) swapRequest(signed *signedPermit) []byte {
	body := append([]byte(`{"quote":`), s.quote.Quote...)
	if signed != nil {
		body = append(append(body, `,"permitData":`...), s.quote.PermitData...)
		body = append(append(body, `,"signature":"`...), hexutil.Encode(signed.signature)...)
		body = append(body, '"')
	}
	body = append(body, `,"refreshGasPrice":true,"simulateTransaction":false,"safetyMode":"SAFE","urgency":"normal","deadline":`...)
	body = strconv.AppendInt(body, s.deadline().Unix(), 10)
	return append(body, '}')
}

// readSwap turns a reply to /swap into a call from the account on the chain of the terms.
// Decode checks what its bytes do.
func readSwap(raw []byte, t swap.Terms) (chain.Call, error) {
	var reply struct {
		Swap *transaction `json:"swap"`
	}
	if err := service.Read("swap", raw, &reply); err != nil {
		return chain.Call{}, garbage("reply", err)
	}
	if reply.Swap == nil {
		return chain.Call{}, refuse(swap.ProviderInvalidResponse, "swap", "the dex provider's reply has no transaction")
	}
	tx := *reply.Swap
	err := service.CheckEchoes([]wire.Echo{
		{Field: "to", Present: tx.To != nil, Matches: true},
		{Field: "data", Present: tx.Data != nil, Matches: true},
		{Field: "value", Present: tx.Value != nil, Matches: true},
		{Field: "from", Present: tx.From != nil, Matches: tx.From.is(t.Account)},
		{Field: "chainId", Present: tx.ChainID != nil, Matches: tx.ChainID.IsID(t.SrcChain)},
	})
	if err != nil {
		return chain.Call{}, err
	}
	data, err := hexutil.Decode(*tx.Data)
	if err != nil {
		return chain.Call{}, garbage("data", err)
	}
	if len(data) > maxCalldata {
		return chain.Call{}, refuse(swap.Undecodable, "data", "the calldata has %d bytes, more than any swap needs", len(data))
	}
	gas, err := gasLimit(tx.GasLimit)
	return chain.Call{ChainID: t.SrcChain, From: t.Account, To: tx.To.Address, Value: new(big.Int).Set(tx.Value.Int), Data: data, Gas: gas}, err
}

// gasLimit adds a quarter to the provider's limit, which can be tight. Without a limit it
// returns 0, and our own node estimates.
func gasLimit(q *wire.Quantity) (uint64, error) {
	if q == nil {
		return 0, nil
	}
	if !q.IsUint64() || q.Uint64() < minGas || q.Uint64() > maxGas {
		return 0, refuse(swap.ProviderInvalidResponse, "gasLimit", "the dex provider's gas limit %s is out of bounds", q)
	}
	return min(q.Uint64()*5/4, maxGas), nil
}
