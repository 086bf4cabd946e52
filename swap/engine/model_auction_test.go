package engine

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/proof"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"pgregory.net/rapid"
)

// A modelBid is a signed order that the dealer has: it may be filled once until its
// deadline, as long as Permit2 may pull the input.
type modelBid struct {
	order    string // our order's id
	who      int
	token    int
	amount   uint64
	least    uint64
	out      common.Address
	deadline uint64
}

// bidOf returns the typed message of an order that somebody else settles.
func bidOf(t swap.Terms, least *big.Int) apitypes.TypedData {
	deadline := earlier(time.Now().Add(10*time.Minute), t.Deadline)
	text := []apitypes.Type{{Name: "in", Type: "address"}, {Name: "amount", Type: "string"}, {Name: "out", Type: "address"}, {Name: "least", Type: "string"}, {Name: "to", Type: "address"}, {Name: "deadline", Type: "string"}}
	return apitypes.TypedData{PrimaryType: "Bid", Types: apitypes.Types{"EIP712Domain": {{Name: "chainId", Type: "uint256"}, {Name: "verifyingContract", Type: "address"}}, "Bid": text},
		Domain: apitypes.TypedDataDomain{ChainId: math.NewHexOrDecimal256(int64(t.SrcChain)), VerifyingContract: swap.Permit2Contract.Hex()},
		Message: apitypes.TypedDataMessage{"in": t.Input().Hex(), "amount": t.AmountIn.String(), "out": t.TokenOut.Hex(), "least": least.String(), "to": t.Recipient.Hex(),
			"deadline": fmt.Sprint(deadline.Unix())}}
}

// bidEffect returns what a signed bid allows others to do.
func bidEffect(d apitypes.TypedData) swap.Effect {
	text := func(name string) string { return d.Message[name].(string) }
	number := func(name string) *big.Int { n, _ := new(big.Int).SetString(text(name), 10); return n }
	return swap.Effect{Kind: swap.Signed, Chain: (*big.Int)(d.Domain.ChainId).Uint64(), Target: common.HexToAddress(d.Domain.VerifyingContract), Settler: router, Deadline: time.Unix(number("deadline").Int64(), 0).UTC(),
		Spends: []swap.Spend{{Token: common.HexToAddress(text("in")), Amount: number("amount")}}, Receives: []swap.Receive{{Token: common.HexToAddress(text("out")), To: common.HexToAddress(text("to")), Min: number("least")}}}
}

// Submit takes a bid; it may be repeated for the same one.
func (d *dealer) Submit(_ context.Context, o swap.Order) (string, error) {
	d.m.hook(false)
	l := d.lie()
	if l.err != nil {
		return "", l.err
	}
	c, err := d.m.chainOf(o.Terms.SrcChain)
	if err != nil {
		return "", err
	}
	d.m.checkTold(o)
	if l.dropErr == nil && !d.has(c, o) {
		f := o.Plan.LastEffect()
		c.bids = append(c.bids, modelBid{order: o.ID, who: slices.Index(c.who[:], o.Terms.Account), token: slices.Index(c.tokens[:], o.Terms.Input()), amount: o.Terms.AmountIn.Uint64(),
			least: f.Receives[0].Min.Uint64(), out: o.Terms.TokenOut, deadline: uint64(f.Deadline.Unix())})
	}
	d.m.hook(false)
	if err := errors.Join(l.dropErr, l.takenErr); err != nil {
		return "", err
	}
	return "bid", nil
}

func (d *dealer) has(c *modelChain, o swap.Order) bool {
	return slices.ContainsFunc(c.bids, func(b modelBid) bool { return b.order == o.ID })
}

// Status claims what the mood says about a bid that the dealer has; it knows no others.
func (d *dealer) Status(_ context.Context, o swap.Order) (swap.Claim, error) {
	d.m.hook(false)
	l := d.lie()
	c, err := d.m.chainOf(o.Terms.SrcChain)
	switch {
	case err != nil || l.err != nil:
		return swap.Claim{}, errors.Join(err, l.err)
	case !d.has(c, o) || d.mood == "knows nothing":
		return swap.Claim{}, swap.Refuse(swap.OrderUnknown, "no such bid")
	case l.late:
		return swap.Claim{State: swap.Failed, Reason: "so it says"}, nil
	}
	return swap.Claim{State: swap.Settling}, nil
}

// voidSelector is of the Permit2 call that uses up a bid's nonce.
var voidSelector = common.FromHex("0x3ff9dcb1")

// CancelCall invalidates a bid.
func (d *dealer) CancelCall(o swap.Order) (chain.Call, error) {
	bid := bidHash(o.ID)
	return chain.Call{ChainID: o.Terms.SrcChain, From: o.Terms.Account, To: swap.Permit2Contract, Value: new(big.Int), Data: slices.Concat(voidSelector, bid[:])}, nil
}

// invalidatedIn returns the block in which a bid was invalidated; 0 = none.
func (c *modelChain) invalidatedIn(bid common.Hash) (block int) {
	for i, b := range c.blocks {
		for _, r := range b.receipts {
			if r.success && r.did.usedBid == bid {
				return i
			}
		}
	}
	return 0
}

// Proof returns the event of the fill, and the bid's nonce for its absence.
func (d *dealer) Proof(o swap.Order) (swap.Proof, error) {
	f, bid := o.Plan.Steps[len(o.Plan.Steps)-1].Effect, bidHash(o.ID)
	if d.indistinguishable {
		return swap.Proof{Fill: []swap.LogPattern{{Address: router, Topics: []common.Hash{bidFilled, {}}}}, Ends: f.Deadline}, nil
	}
	return swap.Proof{Fill: []swap.LogPattern{{Address: router, Topics: []common.Hash{bidFilled, bid}}}, Ends: f.Deadline, Nonce: &swap.NonceBit{Contract: swap.Permit2Contract, Owner: o.Terms.Account, Nonce: bid.Big()}}, nil
}

// bidFilled is the topic of a fill's event.
var bidFilled = crypto.Keccak256Hash([]byte("BidFilled(bytes32)"))

// logs returns the events of a fill's transaction.
func (x modelFill) logs(c *modelChain, block common.Hash) []*types.Log {
	tx := bidHash(x.bid.order)
	all := []*types.Log{{Address: router, Topics: []common.Hash{bidFilled, tx}, TxHash: tx, BlockHash: block}}
	if x.bid.out != chain.Native {
		all = append(all, &types.Log{Address: x.bid.out, Topics: []common.Hash{transferTopic, proof.TopicOf(router), proof.TopicOf(c.who[x.bid.who])}, Data: word(x.out), TxHash: tx, BlockHash: block})
	}
	return all
}

// filled returns what a bid's fill paid and its block; 0 = none.
func (c *modelChain) filled(order string) (out uint64, block int) {
	for i, b := range c.blocks {
		for _, f := range b.fills {
			if f.bid.order == order {
				return f.out, i
			}
		}
	}
	return 0, 0
}

// bidHash is a bid's id, used as the hash of the fill's transaction.
func bidHash(order string) common.Hash { return crypto.Keccak256Hash([]byte(order)) }

// A modelFill is a bid that was filled in a block.
type modelFill struct {
	bid modelBid
	out uint64
}

// fill has somebody fill a bid.
func (m *model) fill(t *rapid.T) bool {
	c := m.drawChain(t)
	bid, ok := drawOne(t, "bid", c.bids)
	if ok && c.fill(bid) {
		m.count("bid filled")
	}
	return ok
}

// fill mines a block that fills bid, if the contracts allow it.
func (c *modelChain) fill(bid modelBid) bool {
	if _, block := c.filled(bid.order); block > 0 || c.invalidatedIn(bidHash(bid.order)) > 0 {
		return false
	}
	c.mine(time.Now(), true)
	b := &c.blocks[c.head()]
	me := &b.state[bid.who]
	h, out := &me.tokens[bid.token], max(bid.least, c.priceOut(bid.amount))
	if b.time.Unix() > int64(bid.deadline) || h.allowed < bid.amount || h.balance < bid.amount {
		return false
	}
	h.allowed, h.balance = h.allowed-bid.amount, h.balance-bid.amount
	if i := slices.Index(c.tokens[:], bid.out); i >= 0 {
		me.tokens[i].balance += out
	} else {
		me.coin += out
	}
	b.fills = append(b.fills, modelFill{bid, out})
	return true
}

// checkShares checks that the amounts of signed open orders stay approved while they can
// be filled and nobody else touches the allowance. A token that needs a reset first
// cannot guarantee that.
func (m *model) checkShares(orders []swap.Order) {
	for _, c := range m.chains {
		var need [2][modelTokens]uint64
		for _, o := range orders {
			u, ok := needOf(o)
			_, block := c.filled(o.ID)
			if !ok || !u.Signed || o.Terms.SrcChain != c.net.ID || block > 0 || time.Now().After(o.Plan.LastEffect().Deadline) {
				continue
			}
			need[slices.Index(c.who[:], o.Terms.Account)][slices.Index(c.tokens[:], o.Terms.Input())] += u.Amount.Uint64()
		}
		for i, tokens := range need {
			for j, n := range tokens {
				if j != resetToken && c.state()[i].tokens[j].allowed < n && !m.touched[c.net.ID] && len(c.reorged) == 0 {
					m.t.Fatalf("the share of a signed open order was taken away")
				}
			}
		}
	}
}
