package swap

import (
	"bytes"
	"context"
	"encoding/json"
	"math/big"
	"slices"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// Wallet is the kind of an order that the wallet carries out without a provider: the
// revoke of an allowance. It is not in the spec's selector and quotes nothing.
const Wallet Kind = "wallet"

// permit2Contract is Permit2's address on every chain that has it (Uniswap permit2
// deployments).
var permit2Contract = common.HexToAddress("0x000000000022D473030F116dDEE9F6B43aC78BA3")

// AllowanceKind says which contract stores an allowance.
type AllowanceKind string

const (
	ByToken   AllowanceKind = "erc20"   // the token itself (EIP-20 approve)
	ByPermit2 AllowanceKind = "permit2" // Permit2, which pulls by its own allowance on the token
)

// A grant identifies one allowance: token, spender, and which contract stores it.
type grant struct {
	Token   common.Address `json:"token"`
	Spender common.Address `json:"spender"`
	Kind    AllowanceKind  `json:"kind"`
}

// keeper returns the contract that stores g.
func (g grant) keeper() common.Address {
	if g.Kind == ByPermit2 {
		return permit2Contract
	}
	return g.Token
}

// Selectors of the calls that set an allowance.
var (
	erc20Approve   = []byte{0x09, 0x5e, 0xa7, 0xb3} // approve(address spender, uint256 amount)
	permit2Approve = []byte{0x87, 0x51, 0x7c, 0x45} // approve(address token, address spender, uint160 amount, uint48 expiration)
)

// revokeData returns the calldata that sets g to zero.
func (g grant) revokeData() []byte {
	if g.Kind == ByPermit2 {
		return slices.Concat(permit2Approve, pad(g.Token), pad(g.Spender), make([]byte, 64))
	}
	return slices.Concat(erc20Approve, pad(g.Spender), make([]byte, 32))
}

func pad(a common.Address) []byte { return common.LeftPadBytes(a[:], 32) }

// topicOf returns an account as an event's topic.
func topicOf(a common.Address) common.Hash { return common.BytesToHash(a[:]) }

// A revoker is the built-in provider of revokes: one call of our own that sets an
// allowance to zero and can do nothing else.
type revoker struct{}

func (revoker) Kind() Kind { return Wallet }

// Pins returns Permit2, the only contract besides the token itself that a revoke may
// call. Any spender may be named, since rights are only taken away.
func (revoker) Pins() Pins {
	var pins Pins
	for _, id := range SupportedChains() {
		pins = append(pins, Pin{id, Verifier, permit2Contract})
	}
	return pins
}

// Quote refuses with UnsupportedRoute: there is nothing to swap.
func (revoker) Quote(context.Context, QuoteRequest) ([]Offer, error) {
	return nil, Refuse(UnsupportedRoute, "the wallet itself offers no swaps")
}

// Build returns the one step that revokes the grant in o.Raw. The plan's spender makes
// the order lock the token's allowance: no other order changes or pulls it meanwhile.
func (revoker) Build(_ context.Context, o Offer, t Terms) (Built, error) {
	var g grant
	if err := json.Unmarshal(o.Raw, &g); err != nil {
		return Built{}, &Refusal{Code: NotUnderstood, Reason: "the allowance to revoke cannot be read", Err: err}
	}
	call := chain.Call{ChainID: t.SrcChain, From: t.Account, To: g.keeper(), Value: new(big.Int), Data: g.revokeData()}
	b := Built{Steps: []Step{{Kind: CallStep, Call: &call}}, Settlement: ByOwnCall, Spender: g.Spender}
	if g.Kind == ByPermit2 {
		b.Spender = permit2Contract
	}
	return b, nil
}

// Decode reads the two calls that set an allowance, in the one encoding that revokeData
// writes. Everything else is refused with NotUnderstood.
func (revoker) Decode(_ Terms, s Step) (Effect, error) {
	if s.Kind != CallStep || s.Call == nil || len(s.Call.Data) < 4 {
		return Effect{}, Refuse(NotUnderstood, "a revoke is one transaction")
	}
	c := *s.Call
	w := words(c.Data[4:])
	a := Approval{Token: c.To}
	switch selector := c.Data[:4]; {
	case bytes.Equal(selector, erc20Approve) && len(w) == 2 && isAddress(w[0]):
		a.Spender, a.Amount = common.BytesToAddress(w[0]), new(big.Int).SetBytes(w[1])
	case bytes.Equal(selector, permit2Approve) && len(w) == 4 && c.To == permit2Contract && isAddress(w[0]) && isAddress(w[1]):
		until := new(big.Int).SetBytes(w[3])
		if until.Sign() != 0 { // Permit2 takes zero as the current block's time
			return Effect{}, refuseField(NotUnderstood, "expiration", "a revoke has no expiration")
		}
		a.Token, a.Spender, a.Amount = common.BytesToAddress(w[0]), common.BytesToAddress(w[1]), new(big.Int).SetBytes(w[2])
	default:
		return Effect{}, Refuse(NotUnderstood, "the call is no revoke of an allowance")
	}
	return Effect{Kind: Approve, Chain: c.ChainID, Target: c.To, Approves: []Approval{a}}, nil
}

// words splits ABI-encoded arguments into 32-byte words; nil if they are not whole words.
func words(b []byte) (w [][]byte) {
	if len(b)%32 != 0 {
		return nil
	}
	for ; len(b) > 0; b = b[32:] {
		w = append(w, b[:32])
	}
	return w
}

func isAddress(word []byte) bool { return len(bytes.Trim(word[:12], "\x00")) == 0 }

// checkRevoke is [Check] for orders of kind [Wallet]: they may only set one allowance of
// the account to zero, for any spender.
func checkRevoke(t Terms, effects []Effect, pins Pins) error {
	if err := t.checkRevoke(); err != nil {
		return err
	}
	if len(effects) != 1 || effects[0].Kind != Approve {
		return Refuse(NotAsAccepted, "a revoke is one step that sets an allowance")
	}
	f := effects[0]
	if f.Chain != t.SrcChain {
		return refuseField(NotAsAccepted, "chainId", "the revoke acts on chain %d, not on %d", f.Chain, t.SrcChain)
	}
	if err := checkMovesNothing(f, "approves"); err != nil {
		return err
	}
	a, err := oneApproval(t, f)
	switch {
	case err != nil:
		return err
	case a.Amount.Sign() != 0 || a.Shares != nil || !a.Until.IsZero():
		return refuseField(NotAsAccepted, "allowance", "a revoke would grant something").WithAmounts(OfInput, a.Amount, nil)
	case a.Spender == common.Address{}:
		return refuseField(NotAsAccepted, "spender", "the revoke names nobody")
	case f.Target != t.TokenIn && !(f.Target == permit2Contract && pins.Allows(f.Chain, Verifier, f.Target)):
		return refuseField(NotPinned, "to", "the revoke calls %s, which is neither the token nor Permit2", f.Target)
	case !f.Deadline.IsZero() || f.TrustedTo != "":
		return refuseField(NotAsAccepted, "deadline", "a revoke depends on nobody")
	}
	return nil
}

// checkRevoke refuses terms that are not a revoke's.
func (t Terms) checkRevoke() error {
	zero := common.Address{}
	switch {
	case t.Provider != Wallet || t.Account == zero || t.TokenIn == zero:
		return refuseField(BadRequest, "token", "a revoke needs an account and a token")
	case t.SrcChain != t.DstChain || t.TokenOut != t.TokenIn || t.Recipient != t.Account || t.RefundTo != t.Account:
		return refuseField(BadRequest, "recipient", "a revoke concerns one token of one account")
	case !isZero(t.AmountIn) || !isZero(t.MinOut):
		return refuseField(BadRequest, "amountIn", "a revoke moves nothing")
	case t.FeeBps != 0 || t.MakerFeeBps != 0 || t.FeeReceiver != zero:
		return refuseField(BadRequest, "feeBps", "a revoke pays nobody")
	case t.Deadline.IsZero():
		return refuseField(BadRequest, "deadline", "no deadline")
	case t.GasCeiling == nil || t.GasCeiling.Sign() <= 0:
		return refuseField(BadRequest, "gasCeiling", "no gas ceiling")
	}
	return nil
}

func isZero(n *big.Int) bool { return n != nil && n.Sign() == 0 }

// recheckUnneeded checks again, right before a revoke is signed, that no order accepted
// meanwhile needs the allowance.
func (e *Engine) recheckUnneeded(o Order) error {
	if o.Terms.Provider != Wallet {
		return nil
	}
	return e.Journal.checkNotNeeded(o.Terms.Account, o.Terms.SrcChain, grantOf(o.Plan.Steps[0].Effect), o.ID, e.Now())
}

// proveRevoked proves a revoke by the receipt of our call, at the chain's depth, with the
// log that the allowance is now zero. Not every token writes that log, and some report
// failure without reverting, so without the log the allowance itself is read.
func (e *Engine) proveRevoked(ctx context.Context, o Order) (Verdict, bool, error) {
	v, ok, err := e.proveOwnCall(ctx, o)
	g := grantOf(o.Plan.Steps[0].Effect)
	if err != nil || !ok || v.State != Filled {
		return v, ok, err
	}
	by := byRevoke
	if !revokedIn(v.Evidence.Logs, o.Terms.Account, g) {
		left, err := allowanceOf(ctx, e.Nodes, o.Terms.SrcChain, o.Terms.Account, g)
		if err != nil {
			return v, false, err
		}
		if left.Sign() != 0 {
			by = byKept
		}
	}
	revoked := verdictBy(by)
	revoked.Sources, revoked.Evidence = v.Sources, v.Evidence
	return revoked, true, nil
}

// grantOf returns the grant that an effect of kind Approve sets.
func grantOf(f Effect) grant {
	g := grant{Token: f.Approves[0].Token, Spender: f.Approves[0].Spender, Kind: ByToken}
	if f.Target != g.Token {
		g.Kind = ByPermit2
	}
	return g
}

// Topics of the events that an allowance was set.
var (
	erc20Approved   = crypto.Keccak256Hash([]byte("Approval(address,address,uint256)"))                // EIP-20
	permit2Approved = crypto.Keccak256Hash([]byte("Approval(address,address,address,uint160,uint48)")) // Permit2, IAllowanceTransfer
)

// revokedIn reports whether the last log about g sets it to zero.
func revokedIn(logs []*types.Log, owner common.Address, g grant) (gone bool) {
	topics, data := []common.Hash{erc20Approved, topicOf(owner), topicOf(g.Spender)}, 32
	if g.Kind == ByPermit2 {
		topics, data = []common.Hash{permit2Approved, topicOf(owner), topicOf(g.Token), topicOf(g.Spender)}, 64
	}
	for _, l := range logs {
		if l.Address == g.keeper() && slices.Equal(l.Topics, topics) && len(l.Data) == data {
			gone = len(bytes.Trim(l.Data[:32], "\x00")) == 0
		}
	}
	return gone
}

// allowanceOf reads from the chain what is left of g, in base units.
func allowanceOf(ctx context.Context, n Nodes, id uint64, owner common.Address, g grant) (*big.Int, error) {
	if g.Kind == ByToken {
		return n.Allowance(ctx, id, g.Token, owner, g.Spender)
	}
	all, err := n.PermitAllowances(ctx, id, permit2Contract, owner, []chain.Grantee{{Token: g.Token, Spender: g.Spender}})
	if err != nil {
		return nil, err
	}
	return all[0].Amount, nil
}

// revokePlanLife is how long a revoke's plan may be accepted after it was shown: it depends
// on no price except that of gas.
const revokePlanLife = 10 * time.Minute

// revokeReview prepares the revoke of g as it stands now, with its cost.
func (s *Service) revokeReview(ctx context.Context, account common.Address, net chain.Network, g grant) (Review, error) {
	now := s.o.Now().UTC().Truncate(time.Second)
	zero := new(big.Int)
	t := Terms{
		Provider: Wallet, Account: account, SrcChain: net.ID, TokenIn: g.Token, AmountIn: zero, DstChain: net.ID, TokenOut: g.Token,
		Recipient: account, MinOut: zero, Deadline: now.Add(consentLife), RefundTo: account, GasCeiling: net.GasCeiling,
	}
	offer := Offer{
		Provider: Wallet, Routing: "REVOKE", Route: "allowance of " + g.Spender.Hex() + " to zero", AmountOut: zero, MinOut: zero, Expires: now.Add(revokePlanLife), Raw: mustJSON(g),
		Request: QuoteRequest{Account: account, SrcChain: net.ID, TokenIn: g.Token, AmountIn: zero, DstChain: net.ID, TokenOut: g.Token, Recipient: account, RefundTo: account},
	}
	p := revoker{}
	plan, err := s.engine.build(ctx, p, offer, t)
	if err != nil {
		return Review{}, err
	}
	if err := Check(t, plan.Effects(), p.Pins()); err != nil {
		return Review{}, err
	}
	r := Review{Digest: Digest(t, plan.Effects()), Terms: t, Offer: offer, Plan: plan, Expires: offer.Expires}
	return r, s.engine.weigh(ctx, &r, net, plan.Steps, t.GasCeiling)
}
