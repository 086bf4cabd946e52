package engine

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"math/big"
	"slices"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// A dealer is a provider that trades on the model's router: the native coin in one call,
// a token by a permit and a late call or by a signed order that others fill. It wraps one
// to one. Its decoding is true; everything else may be a lie.
type dealer struct {
	m                 *model
	mood              string // of dealerMoods
	auction           bool   // token inputs become signed orders that others fill
	indistinguishable bool   // all fills look alike
}

// A lie is what a dealer changes in what it builds; nil = nothing.
type lie struct {
	offer    func(*swap.Offer)
	typed    func(apitypes.TypedDataMessage)
	trade    func(*modelTrade)
	call     func(*chain.Call)
	late     bool // applies to the late call, after the permit
	err      error
	takenErr error // the error for a bid that is taken nevertheless
	dropErr  error // the error for a bid that is not taken
}

// dealerMoods are what a dealer may do to every request.
var dealerMoods = map[string]lie{
	"":                 {},
	"down":             {err: swap.Refuse(swap.ProviderDown, "gone")},
	"no route":         {err: swap.Refuse(swap.NoRoute, "no route")},
	"no key":           {err: errors.New("unexpected reply")},
	"answer lost":      {takenErr: errors.New("connection reset")},
	"question lost":    {dropErr: errors.New("connection reset")},
	"refuses":          {dropErr: swap.Refuse(swap.ProviderRefused, "not this one")},
	"refuses, it says": {takenErr: swap.Refuse(swap.ProviderRefused, "not this one")},
	"knows nothing":    {takenErr: swap.Refuse(swap.ProviderDown, "gone")},
	"short quotes":     {offer: func(o *swap.Offer) { o.Expires = time.Now().Add(2 * time.Second) }},
	"old quotes":       {offer: func(o *swap.Offer) { o.Expires = time.Now().Add(-time.Second) }},
	"wide slippage":    {offer: func(o *swap.Offer) { o.MinOut = swap.MinAfterSlippage(o.MinOut, 300) }},
	"too good":         {offer: func(o *swap.Offer) { o.AmountOut = new(big.Int).Lsh(o.AmountOut, 1) }},
	"permit: spender":  {typed: func(m apitypes.TypedDataMessage) { m["spender"] = thief.Hex() }},
	"permit: amount": {typed: func(m apitypes.TypedDataMessage) {
		m["details"].(map[string]any)["amount"] = "1000000000000000000"
	}},
	"permit: nonce":      {typed: func(m apitypes.TypedDataMessage) { m["details"].(map[string]any)["nonce"] = "7" }},
	"permit: forever":    {typed: func(m apitypes.TypedDataMessage) { m["details"].(map[string]any)["expiration"] = "99999999999" }},
	"trade: recipient":   {trade: func(x *modelTrade) { x.to = thief }},
	"trade: floor":       {trade: func(x *modelTrade) { x.least /= 2 }},
	"trade: amount":      {trade: func(x *modelTrade) { x.amount *= 2 }},
	"trade: deadline":    {trade: func(x *modelTrade) { x.deadline += 86400 }},
	"trade: token":       {trade: func(x *modelTrade) { x.out = thief }},
	"call: target":       {call: func(c *chain.Call) { c.To = thief }},
	"call: value":        {call: func(c *chain.Call) { c.Value = new(big.Int).Add(c.Value, big.NewInt(1)) }},
	"call: bytes":        {call: func(c *chain.Call) { c.Data = append(slices.Clone(c.Data), make([]byte, 32)...) }},
	"late: recipient":    {late: true, trade: func(x *modelTrade) { x.to = thief }},
	"late: floor":        {late: true, trade: func(x *modelTrade) { x.least /= 2 }},
	"late: other permit": {late: true, trade: func(x *modelTrade) { p := *x.permit; p.Details.Amount = big.NewInt(1); x.permit = &p }},
	"late: target":       {late: true, call: func(c *chain.Call) { c.To = thief }},
	"late: value":        {late: true, call: func(c *chain.Call) { c.Value = big.NewInt(1) }},
	"late: account":      {late: true, call: func(c *chain.Call) { c.From = thief }},
}

func (d *dealer) lie() lie { return dealerMoods[d.mood] }

func (d *dealer) Kind() swap.Kind { return swap.DEX }

func (d *dealer) Pins() (pins swap.Pins) {
	for _, c := range d.m.chains {
		id := c.net.ID
		pins = append(pins, swap.Pin{Chain: id, Role: swap.Router, Address: router}, swap.Pin{Chain: id, Role: swap.Wrapper, Address: c.net.WrappedNative}, swap.Pin{Chain: id, Role: swap.Spender, Address: swap.Permit2Contract}, swap.Pin{Chain: id, Role: swap.Verifier, Address: swap.Permit2Contract}, swap.Pin{Chain: id, Role: swap.Settlement, Address: router})
	}
	return pins
}

func (d *dealer) Quote(_ context.Context, r swap.QuoteRequest) ([]swap.Offer, error) {
	d.m.hook(false)
	l := d.lie()
	if l.err != nil {
		return nil, l.err
	}
	c, err := d.m.chainOf(r.SrcChain)
	if err != nil {
		return nil, err
	}
	out := new(big.Int).SetUint64(c.priceOut(r.AmountIn.Uint64()))
	o := swap.Offer{AmountOut: out, MinOut: swap.MinAfterSlippage(out, r.SlippageBps), Routing: "CLASSIC", Gas: 200_000, Expires: time.Now().Add(30 * time.Second)}
	switch {
	case swap.IsWrap(r, c.net.WrappedNative):
		o.AmountOut, o.MinOut, o.Routing = r.AmountIn, r.AmountIn, "WRAP"
	case d.auction:
		o.Routing = "AUCTION"
		if r.TokenIn == chain.Native {
			o.Wrap = c.net.WrappedNative
		}
	}
	if l.offer != nil {
		l.offer(&o)
	}
	return []swap.Offer{o}, nil
}

func (d *dealer) Build(_ context.Context, o swap.Offer, t swap.Terms) (swap.Built, error) {
	d.m.hook(false)
	l := d.lie()
	if l.err != nil {
		return swap.Built{}, l.err
	}
	c, err := d.m.chainOf(t.SrcChain)
	if err != nil {
		return swap.Built{}, err
	}
	call := chain.Call{ChainID: t.SrcChain, From: t.Account, Value: new(big.Int)}
	switch wrapped := c.net.WrappedNative; {
	case swap.IsWrap(o.Request, wrapped) && t.TokenIn == chain.Native:
		call.To, call.Value, call.Data = wrapped, t.AmountIn, depositSelector
	case swap.IsWrap(o.Request, wrapped):
		call.To, call.Data = wrapped, slices.Concat(withdrawSelector, word(t.AmountIn.Uint64()))
	case t.Input() != chain.Native && o.Routing == "AUCTION":
		return l.bid(o, t), nil
	case t.TokenIn != chain.Native:
		return d.withPermit(c, o, t)
	default:
		call.To, call.Value, call.Data = router, t.AmountIn, l.tell(tradeOf(t, o.MinOut), false).data()
	}
	l.twist(&call, false)
	return swap.Built{Steps: []swap.Step{{Kind: swap.CallStep, Call: &call}}, Settlement: swap.ByOwnCall}, nil
}

// tradeOf returns the honest trade for an accepted plan.
func tradeOf(t swap.Terms, least *big.Int) modelTrade {
	deadline := earlier(time.Now().Add(10*time.Minute), t.Deadline)
	return modelTrade{deadline: uint64(deadline.Unix()), in: t.TokenIn, out: t.TokenOut, amount: t.AmountIn.Uint64(), least: least.Uint64(), to: t.Recipient}
}

func (l lie) tell(x modelTrade, late bool) modelTrade {
	if l.trade != nil && l.late == late {
		l.trade(&x)
	}
	return x
}

func (l lie) twist(c *chain.Call, late bool) {
	if l.call != nil && l.late == late {
		l.call(c)
	}
}

// withPermit returns a plan whose call comes after a permit.
func (d *dealer) withPermit(c *modelChain, o swap.Offer, t swap.Terms) (swap.Built, error) {
	l := d.lie()
	nonce := c.state()[slices.Index(c.who[:], t.Account)].permits[slices.Index(c.tokens[:], t.TokenIn)].nonce
	typed := permitOf(t, nonce, time.Now().Add(30*24*time.Hour), time.Now().Add(30*time.Minute))
	permit := permitIn(typed)
	if l.typed != nil {
		l.typed(typed.Message)
	}
	x := l.tell(tradeOf(t, o.MinOut), false)
	x.permit = &permit
	f := x.effect(t.SrcChain)
	if l.call != nil && !l.late {
		call := chain.Call{To: router, Value: new(big.Int)}
		l.call(&call)
		f.Target = call.To
	}
	return swap.Built{Settlement: swap.ByOwnCall, Spender: swap.Permit2Contract, Steps: []swap.Step{{Kind: swap.TypedStep, TypedData: &typed}, {Kind: swap.DeferredStep, Effect: f}}}, nil
}

// bid returns a plan of one signed order.
func (l lie) bid(o swap.Offer, t swap.Terms) swap.Built {
	typed := bidOf(t, l.tell(tradeOf(t, o.MinOut), false).leastOf())
	if l.trade != nil && !l.late {
		typed.Message["to"] = thief.Hex()
	}
	return swap.Built{Settlement: swap.ByProvider, Spender: swap.Permit2Contract, Steps: []swap.Step{{Kind: swap.TypedStep, TypedData: &typed}}}
}

func (x modelTrade) leastOf() *big.Int { return new(big.Int).SetUint64(x.least) }

// effect returns what a trade does.
func (x modelTrade) effect(chainID uint64) swap.Effect {
	n := func(n uint64) *big.Int { return new(big.Int).SetUint64(n) }
	f := swap.Effect{Kind: swap.Swap, Chain: chainID, Target: router, Deadline: time.Unix(int64(x.deadline), 0).UTC(),
		Spends: []swap.Spend{{Token: x.in, Amount: n(x.amount)}}, Receives: []swap.Receive{{Token: x.out, To: x.to, Min: n(x.least)}}}
	if x.permit != nil {
		f.Approves = []swap.Approval{x.permit.approval()}
	}
	return f
}

func (d *dealer) BuildDeferred(_ context.Context, o swap.Order, step int) (chain.Call, error) {
	d.m.hook(false)
	l := d.lie()
	if l.err != nil {
		return chain.Call{}, l.err
	}
	if step == 0 || len(o.Results) != step || len(o.Results[step-1].Signature) != 65 {
		d.m.t.Fatalf("a late call before its signature")
	}
	f, permit := o.Plan.Steps[step].Effect, permitIn(*o.Plan.Steps[step-1].TypedData)
	x := tradeOf(o.Terms, f.Receives[0].Min)
	x.deadline, x.permit, x.sig = uint64(f.Deadline.Unix()), &permit, o.Results[step-1].Signature
	c := chain.Call{ChainID: o.Terms.SrcChain, From: o.Terms.Account, To: router, Value: new(big.Int), Data: l.tell(x, true).data(), Gas: 400_000}
	l.twist(&c, true)
	return c, nil
}

func (d *dealer) Decode(t swap.Terms, s swap.Step) (swap.Effect, error) {
	if s.Kind == swap.TypedStep && s.TypedData.PrimaryType == "Bid" {
		return bidEffect(*s.TypedData), nil
	}
	if s.Kind == swap.TypedStep {
		p := permitIn(*s.TypedData)
		domain := s.TypedData.Domain
		return swap.Effect{Kind: swap.Permit, Chain: (*big.Int)(domain.ChainId).Uint64(), Target: common.HexToAddress(domain.VerifyingContract), Approves: []swap.Approval{p.approval()},
			Deadline: time.Unix(p.SigDeadline.Int64(), 0).UTC(), Nonce: p.Details.Nonce}, nil
	}
	c := *s.Call
	amount := func() *big.Int { return new(big.Int).SetBytes(c.Data[4:]) }
	one := func(k swap.EffectKind, in, out common.Address, n *big.Int) swap.Effect {
		return swap.Effect{Kind: k, Chain: c.ChainID, Target: c.To, Spends: []swap.Spend{{Token: in, Amount: n}}, Receives: []swap.Receive{{Token: out, To: c.From, Min: n}}}
	}
	if x, ok := tradeIn(c.Data); ok {
		f := x.effect(c.ChainID)
		f.Target = c.To
		return f, nil
	}
	switch {
	case slices.Equal(c.Data, depositSelector):
		return one(swap.Wrap, chain.Native, c.To, c.Value), nil
	case len(c.Data) == 36 && slices.Equal(c.Data[:4], withdrawSelector):
		return one(swap.Unwrap, c.To, chain.Native, amount()), nil
	}
	return swap.Effect{}, swap.Refuse(swap.Undecodable, "no call of a dealer")
}

// modelPricer is the wallet's own source of prices.
type modelPricer struct{ m *model }

func (p modelPricer) Out(_ context.Context, src uint64, _ common.Address, dst uint64, _ common.Address, in *big.Int) (*big.Int, error) {
	p.m.hook(false)
	worth := in.Uint64()
	for _, id := range slices.Compact([]uint64{src, dst}) {
		c, err := p.m.chainOf(id)
		if err != nil || c.reads() < 0 {
			return nil, errors.New("no price")
		}
		worth = c.priceOut(worth)
	}
	return new(big.Int).SetUint64(worth), nil
}

func (p modelPricer) Worth(ctx context.Context, id uint64, token common.Address, amount *big.Int) (*big.Int, error) {
	return p.Out(ctx, id, token, id, common.Address{}, amount)
}

// A modelSigner signs for both accounts unless it is locked, and checks the bytes against
// the user's consent and the model's state.
type modelSigner struct {
	m      *model
	keys   [2]*ecdsa.PrivateKey
	locked bool
}

func (h *modelSigner) SignTx(_ context.Context, from common.Address, tx *types.Transaction, id *big.Int) (*types.Transaction, error) {
	if !h.locked {
		h.m.checkSigned(from, tx, id.Uint64())
	}
	h.m.hook(true) // signing takes time
	if h.locked {
		return nil, errLocked
	}
	return types.SignTx(tx, types.LatestSignerForChainID(id), h.keys[slices.Index(h.m.who[:], from)])
}

func (h *modelSigner) Seal(account common.Address, message []byte) (code [32]byte, err error) {
	if h.locked {
		return code, errLocked
	}
	return sealBy(h.keys[slices.Index(h.m.who[:], account)], account, message), nil
}

func (h *modelSigner) SignTypedData(_ context.Context, from common.Address, d apitypes.TypedData) (sig []byte, err error) {
	if h.locked {
		return nil, errLocked
	}
	if d.PrimaryType == "Bid" {
		h.m.checkBid(from, bidEffect(d))
		sig = make([]byte, 65)
	} else {
		p, id := permitIn(d), (*big.Int)(d.Domain.ChainId).Uint64()
		h.m.checkPermit(from, p, id, common.HexToAddress(d.Domain.VerifyingContract))
		sig = permitSignature(id, from, p)
	}
	h.m.hook(false)
	if h.locked {
		return nil, errLocked
	}
	return sig, nil
}
