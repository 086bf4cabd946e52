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
	// swapLife is how far ahead the deadline of requested calldata is, at most.
	swapLife = 10 * time.Minute
	// maxGas is the highest gas limit of a transaction (EIP-7825).
	maxGas = 1 << 24
	// minGas is the gas that the cheapest transaction uses.
	minGas = 21_000
	// maxCalldata, in bytes, is far above the longest route that Decode accepts.
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

// Build turns an offer into steps within the terms:
//   - for an auction, the order to sign;
//   - for a swap that needs a permit, the permit to sign and a deferred step. Build states the
//     effect of the deferred step, which the call that [Provider.BuildDeferred] returns must match;
//   - for any other swap, a call, whose calldata is requested and decoded here.
//
// Build may be repeated. A refusal with [swap.QuoteExpired] means that a fresh quote is needed.
func (p *Provider) Build(ctx context.Context, o swap.Offer, t swap.Terms) (swap.Built, error) {
	s, err := p.checkOffer(o, t)
	if err != nil {
		return swap.Built{}, err
	}
	built := swap.Built{Settlement: swap.ByOwnCall, Spender: s.pair.spender()}
	if s.order != nil {
		typed := s.order.typed(t.SrcChain)
		built.Settlement, built.Steps = swap.ByProvider, []swap.Step{{Kind: swap.TypedStep, TypedData: &typed}}
		return built, nil
	}
	if s.permit != nil {
		typed := s.permit.typed(t.SrcChain)
		built.Steps = []swap.Step{{Kind: swap.TypedStep, TypedData: &typed}, {Kind: swap.DeferredStep, Effect: s.effect()}}
		return built, nil
	}
	call, err := p.fetch(ctx, s, nil)
	if err != nil {
		return swap.Built{}, err
	}
	built.Steps = []swap.Step{{Kind: swap.CallStep, Call: &call}}
	return built, nil
}

// A checkedOffer is an offer that passed checkOffer, with the terms that it was checked
// against.
type checkedOffer struct {
	parsedQuote // parsed again from the raw quote
	terms       swap.Terms
	pair        tokenPair
	now         time.Time // when it was checked
}

// checkOffer refuses an offer that has expired, is not for the terms or does not match its raw
// quote. The offer may come from storage, so the result is parsed from the raw quote and not
// copied from the offer's other fields.
func (p *Provider) checkOffer(o swap.Offer, t swap.Terms) (checkedOffer, error) {
	now := p.now()
	if !now.Before(o.Expires) || !now.Before(t.Deadline) {
		return checkedOffer{}, refuse(swap.QuoteExpired, "expires", "the quote has expired; get a new one")
	}
	quote, err := p.reparseQuote(o, t)
	if err != nil {
		return checkedOffer{}, err
	}
	pair, err := checkTerms(t)
	if err != nil {
		return checkedOffer{}, err
	}
	if quote.order != nil {
		if err := quote.order.checkEndsBy(t.Deadline); err != nil {
			return checkedOffer{}, err
		}
	}
	return checkedOffer{quote, t, pair, now}, quote.checkLifetime(now)
}

// deadline returns the deadline to request for the calldata: the earliest of swapLife from
// now, the deadline of the terms and the end of the permit, if there is one.
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

// effect predicts the effect that Decode will report for the calldata of a deferred swap. The
// deadline, and a minimum above that of the terms, may differ: the digest covers neither.
func (s checkedOffer) effect() swap.Effect {
	m := machine{t: s.terms, pair: s.pair, minOut: s.offer.MinOut, payments: s.offer.Fees, permit: &signedPermit{permit: *s.permit}}
	return m.effect(earliest(s.terms.Deadline, s.permit.usableUntil()))
}

// fetch requests the calldata, with the signed permit if there is one. It refuses calldata that
// differs from the quote or carries any other permit. It may be repeated.
func (p *Provider) fetch(ctx context.Context, s checkedOffer, signed *signedPermit) (chain.Call, error) {
	reply, err := p.api.Do(ctx, rest.Call{Method: http.MethodPost, Path: "/swap", Body: s.swapRequest(signed), Repeatable: true})
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
		p.onAnomaly("the calldata is tagged with the id of another quote")
	}
	return call, carried.checkSame(signed)
}

// checkSame requires that s, the permit in the calldata, is the one that was signed. Either may
// be nil: no permit.
func (s *signedPermit) checkSame(signed *signedPermit) error {
	switch {
	case s == nil && signed == nil:
		return nil
	case s == nil:
		return refuse(swap.NotAsAccepted, "permit", "the calldata omits the signed permit")
	case signed == nil:
		return refuse(swap.NotAsAccepted, "permit", "the calldata carries a permit, but none was signed")
	case !s.is(signed.permit) || !bytes.Equal(s.signature, signed.signature):
		return refuse(swap.NotAsAccepted, "permit", "the calldata carries a different permit than the signed one")
	}
	return nil
}

// checkAsQuoted refuses calldata whose effect differs from the quote that the user was shown.
// That the effect is within the terms is not enough: the terms allow a worse swap than the
// quote.
func (s checkedOffer) checkAsQuoted(f swap.Effect) error {
	minOut, deadline := new(big.Int), s.deadline()
	for _, r := range f.Receives {
		minOut.Add(minOut, r.Min)
	}
	switch {
	case !slices.Equal(f.Pays, s.offer.Fees):
		return refuse(swap.NotAsAccepted, "fee", "the calldata's fees differ from the quote's")
	case minOut.Cmp(s.offer.MinOut) < 0:
		return refuse(swap.NotAsAccepted, "minAmountOut", "the calldata enforces less than the quote's minimum").WithAmounts(swap.OfOutput, minOut, s.offer.MinOut)
	case !f.Deadline.IsZero() && (f.Deadline.After(deadline) || !f.Deadline.After(s.now)):
		return refuse(swap.NotAsAccepted, "deadline", "the swap's deadline %s has passed or is later than the one requested", f.Deadline.UTC().Format(time.RFC3339))
	}
	return nil
}

// reparseQuote parses the raw quote of an offer again. It refuses an offer that is not for the
// terms or differs from its raw quote.
func (p *Provider) reparseQuote(o swap.Offer, t swap.Terms) (parsedQuote, error) {
	r := o.Request
	checks := []wire.Echo{
		{Field: "provider", Present: true, Matches: t.Provider == swap.DEX && o.Provider == swap.DEX},
		{Field: "account", Present: true, Matches: r.Account == t.Account},
		{Field: "srcChainId", Present: true, Matches: r.SrcChain == t.SrcChain && r.DstChain == t.DstChain},
		{Field: "tokenIn", Present: true, Matches: r.TokenIn == t.TokenIn},
		{Field: "tokenOut", Present: true, Matches: r.TokenOut == t.TokenOut},
		{Field: "amountIn", Present: r.AmountIn != nil && t.AmountIn != nil, Matches: t.AmountIn != nil && r.AmountIn != nil && r.AmountIn.Cmp(t.AmountIn) == 0},
		{Field: "recipient", Present: true, Matches: r.Recipient == t.Recipient},
		{Field: "feeBps", Present: true, Matches: r.FeeBps == t.FeeBps && r.FeeReceiver == t.FeeReceiver},
	}
	for _, c := range checks {
		if !c.Present || !c.Matches {
			return parsedQuote{}, refuse(swap.NotAsAccepted, c.Field, "the offer's %s differs from the terms", c.Field)
		}
	}
	quote, err := p.readQuote(o.Raw, r)
	if err != nil {
		return parsedQuote{}, err
	}
	switch q := quote.offer; {
	case q.Routing != o.Routing || o.MinOut == nil || q.MinOut.Cmp(o.MinOut) != 0 || !slices.Equal(q.Fees, o.Fees):
		return parsedQuote{}, refuse(swap.NotAsAccepted, "minAmountOut", "the offer differs from its quote")
	case t.MinOut == nil || q.MinOut.Cmp(t.MinOut) < 0:
		return parsedQuote{}, refuse(swap.NotAsAccepted, "minOut", "the quote's minimum is below the accepted minimum").WithAmounts(swap.OfOutput, q.MinOut, t.MinOut)
	}
	return quote, nil
}

// swapRequest returns the body of POST /swap. The quote and the permit are copied byte for
// byte, because encoding them again would change them. Without a permit, permitData and
// signature are omitted, not null.
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

// readSwap turns a reply to POST /swap into a call from the account on the source chain. It does
// not check what the calldata does: Decode does.
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
		return chain.Call{}, refuse(swap.Undecodable, "data", "the calldata has %d bytes, more than %d", len(data), maxCalldata)
	}
	gas, err := gasLimit(tx.GasLimit)
	return chain.Call{ChainID: t.SrcChain, From: t.Account, To: tx.To.Address, Value: new(big.Int).Set(tx.Value.Int), Data: data, Gas: gas}, err
}

// gasLimit returns the provider's gas limit plus a quarter, since the limit can be too low for
// the actual run. Without a limit it returns 0, which makes the wallet estimate the gas.
func gasLimit(q *wire.Quantity) (uint64, error) {
	if q == nil {
		return 0, nil
	}
	if !q.IsUint64() || q.Uint64() < minGas || q.Uint64() > maxGas {
		return 0, refuse(swap.ProviderInvalidResponse, "gasLimit", "the dex provider's gas limit %s is not between %d and %d", q, minGas, maxGas)
	}
	return min(q.Uint64()*5/4, maxGas), nil
}
