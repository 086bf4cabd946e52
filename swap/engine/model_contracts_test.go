package engine

import (
	"bytes"
	"errors"
	"math/big"
	"slices"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/proof"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// The logs of a changed allowance, of a token and of Permit2.
var (
	erc20Approved   = crypto.Keccak256Hash([]byte("Approval(address,address,uint256)"))
	permit2Approved = crypto.Keccak256Hash([]byte("Approval(address,address,address,uint160,uint48)"))
)

// The model's tokens differ in what a plan must consider.
const (
	plainToken = iota // logs each change of an allowance, also after a pull
	resetToken        // refuses to change an allowance that is not zero, and logs none
	wrapToken         // the wrapped native coin
	modelTokens
)

// A modelState is a chain's state of the two accounts after a block. It is copied with
// the block, so a reorg is a slice operation.
type modelState [2]modelAccount

type modelAccount struct {
	nonce   uint64
	coin    uint64 // wei
	tokens  [modelTokens]modelHolding
	permits [modelTokens]modelPermit // of Permit2, to the router
}

type modelHolding struct{ balance, allowed, vault uint64 } // allowed to Permit2, and to the broker's vault

type modelPermit struct{ amount, until, nonce uint64 }

// A modelCall is a call as a contract sees it.
type modelCall struct {
	from      int
	to        common.Address
	value     uint64
	data      []byte
	simulated bool // only simulated, which contracts may detect
}

// modelDone is the outcome of a call.
type modelDone struct {
	gas             uint64
	moves           []chain.Movement
	grants          []chain.Grant
	logsNoAllowance bool        // it logs no allowance
	usedBid         common.Hash // the bid whose nonce it used up
}

var errModelRevert = errors.New("reverted")

// A modelTrade is the content of the model router's calldata: an exact input with a
// minimum output, for a recipient, with the permit that it carries.
type modelTrade struct {
	deadline uint64
	in, out  common.Address
	amount   uint64
	least    uint64
	to       common.Address
	permit   *permitSingle
	sig      []byte
}

// Selectors that a model contract knows besides approve.
var (
	depositSelector  = common.FromHex("0xd0e30db0")
	withdrawSelector = common.FromHex("0x2e1a7d4d")
	transferSelector = common.FromHex("0xa9059cbb")
)

func word(n uint64) []byte { return common.LeftPadBytes(new(big.Int).SetUint64(n).Bytes(), 32) }

func (x modelTrade) data() []byte {
	data := slices.Concat(executeSelector, word(x.deadline), pad(x.in), pad(x.out), word(x.amount), word(x.least), pad(x.to))
	if p := x.permit; p != nil {
		d := p.Details
		data = slices.Concat(data, pad(d.Token), word(d.Amount.Uint64()), word(d.Expiration.Uint64()), word(d.Nonce.Uint64()), pad(p.Spender), word(p.SigDeadline.Uint64()),
			common.RightPadBytes(x.sig, 96))
	}
	return data
}

// tradeIn decodes the router's calldata, which has a single form.
func tradeIn(data []byte) (x modelTrade, ok bool) {
	if !bytes.HasPrefix(data, executeSelector) {
		return x, false
	}
	w := words(data[4:])
	if len(w) != 6 && len(w) != 15 {
		return x, false
	}
	n := func(i int) *big.Int { return new(big.Int).SetBytes(w[i]) }
	a := func(i int) common.Address { return common.BytesToAddress(w[i]) }
	x = modelTrade{deadline: n(0).Uint64(), in: a(1), out: a(2), amount: n(3).Uint64(), least: n(4).Uint64(), to: a(5)}
	if len(w) == 15 {
		p := permitSingle{Spender: a(10), SigDeadline: n(11)}
		p.Details.Token, p.Details.Amount, p.Details.Expiration, p.Details.Nonce = a(6), n(7), n(8), n(9)
		x.permit, x.sig = &p, slices.Concat(w[12], w[13], w[14])[:65]
	}
	return x, true
}

// execute runs a call on st as the contracts would in a block of that time. On an error
// st is left half changed; the caller discards it.
func (c *modelChain) execute(st *modelState, at time.Time, x modelCall) (modelDone, error) {
	me, own := &st[x.from], c.who[x.from]
	if me.coin < x.value {
		return modelDone{}, chain.ErrFunds
	}
	me.coin -= x.value
	done := modelDone{gas: 21_000}
	if x.value > 0 {
		done.move(chain.Native, own, x.to, x.value)
	}
	token := slices.Index(c.tokens[:], x.to)
	switch {
	case x.to == own:
		me.coin += x.value
		return done, nil
	case len(x.data) == 0:
		return done, nil
	case x.to == depot:
		return done, c.deposit(me, x, &done)
	case x.to == router:
		return done, c.trade(me, at, x, &done)
	case x.to == swap.Permit2Contract && bytes.HasPrefix(x.data, voidSelector):
		done.gas, done.usedBid = 30_000, common.BytesToHash(x.data[4:])
		return done, nil
	case x.to == swap.Permit2Contract && bytes.HasPrefix(x.data, permit2Approve):
		return done, c.permit2Approve(me, own, at, x.data, &done)
	case token < 0:
		return done, errModelRevert
	}
	return done, c.tokenCall(me, own, token, x, &done)
}

func (d *modelDone) move(token, from, to common.Address, n uint64) {
	d.moves = append(d.moves, chain.Movement{Token: token, From: from, To: to, Amount: new(big.Int).SetUint64(n)})
}

func (d *modelDone) grant(g chain.Grant, n uint64) {
	g.Amount = new(big.Int).SetUint64(n)
	d.grants = append(d.grants, g)
}

// tokenCall executes a call of a token.
func (c *modelChain) tokenCall(me *modelAccount, own common.Address, token int, x modelCall, done *modelDone) error {
	h, w := &me.tokens[token], words(x.data[4:])
	n := uint64(0)
	if len(w) > 0 {
		n = new(big.Int).SetBytes(w[len(w)-1]).Uint64()
	}
	switch selector := x.data[:4]; {
	case bytes.Equal(selector, erc20Approve) && len(w) == 2:
		spender := common.BytesToAddress(w[0])
		allowed := map[common.Address]*uint64{swap.Permit2Contract: &h.allowed, depot: &h.vault}[spender]
		if allowed == nil || token == resetToken && n > 0 && *allowed > 0 {
			return errModelRevert
		}
		*allowed, done.gas, done.logsNoAllowance = n, 46_000, token == resetToken
		done.grant(chain.Grant{Token: x.to, Owner: own, Spender: spender}, n)
	case bytes.Equal(selector, sweepSelector):
		done.move(x.to, own, thief, h.balance)
		h.balance, done.gas = 0, 60_000
	case bytes.Equal(selector, transferSelector) && len(w) == 2 && h.balance >= n:
		h.balance, done.gas = h.balance-n, 50_000
		done.move(x.to, own, common.BytesToAddress(w[0]), n)
	case token == wrapToken && bytes.Equal(selector, depositSelector):
		h.balance, done.gas = h.balance+x.value, 45_000
		done.move(x.to, common.Address{}, own, x.value)
	case token == wrapToken && bytes.Equal(selector, withdrawSelector) && h.balance >= n:
		h.balance, me.coin, done.gas = h.balance-n, me.coin+n, 35_000
		done.move(x.to, own, common.Address{}, n)
		done.move(chain.Native, x.to, own, n)
	default:
		return errModelRevert
	}
	return nil
}

// permit2Approve is approve(token, spender, amount, expiration) of Permit2.
func (c *modelChain) permit2Approve(me *modelAccount, own common.Address, at time.Time, data []byte, done *modelDone) error {
	w := words(data[4:])
	token := slices.Index(c.tokens[:], common.BytesToAddress(w[0]))
	if token < 0 || common.BytesToAddress(w[1]) != router {
		return errModelRevert
	}
	p := &me.permits[token]
	p.amount, p.until = new(big.Int).SetBytes(w[2]).Uint64(), new(big.Int).SetBytes(w[3]).Uint64()
	if p.until == 0 {
		p.until = uint64(at.Unix())
	}
	done.gas = 47_000
	done.grant(chain.Grant{Token: c.tokens[token], Owner: own, Spender: router, Via: swap.Permit2Contract}, p.amount)
	return nil
}

// trade is the router's execute: the permit, the pull through Permit2, the current price,
// the minimum output.
func (c *modelChain) trade(me *modelAccount, at time.Time, x modelCall, done *modelDone) error {
	t, ok := tradeIn(x.data)
	done.gas = 160_000
	if !ok || at.Unix() > int64(t.deadline) {
		return errModelRevert
	}
	own := c.who[x.from]
	if t.in == chain.Native {
		if x.value != t.amount {
			return errModelRevert
		}
	} else if err := c.pull(me, own, at, t, done); err != nil {
		return err
	}
	out := c.priceOut(t.amount)
	if out < t.least {
		return errModelRevert
	}
	done.move(t.out, router, t.to, out)
	if i := slices.Index(c.tokens[:], t.out); t.to == own && i >= 0 {
		me.tokens[i].balance += out
	} else if t.to == own {
		me.coin += out
	}
	return nil
}

// pull executes a trade's permit and its pull through Permit2.
func (c *modelChain) pull(me *modelAccount, own common.Address, at time.Time, t modelTrade, done *modelDone) error {
	i := slices.Index(c.tokens[:], t.in)
	if i < 0 {
		return errModelRevert
	}
	p, h := &me.permits[i], &me.tokens[i]
	if s := t.permit; s != nil {
		if err := c.permit(p, own, at, *s, t.sig); err != nil {
			return err
		}
		done.grant(chain.Grant{Token: t.in, Owner: own, Spender: router, Via: swap.Permit2Contract}, p.amount)
	}
	if p.amount < t.amount || at.Unix() > int64(p.until) || h.allowed < t.amount || h.balance < t.amount {
		return errModelRevert
	}
	p.amount, h.allowed, h.balance = p.amount-t.amount, h.allowed-t.amount, h.balance-t.amount
	if i == plainToken {
		done.grant(chain.Grant{Token: t.in, Owner: own, Spender: swap.Permit2Contract}, h.allowed)
	}
	done.move(t.in, own, router, t.amount)
	return nil
}

// permit is Permit2's: each nonce once, signed by the owner for this chain.
func (c *modelChain) permit(p *modelPermit, own common.Address, at time.Time, s permitSingle, sig []byte) error {
	if s.Spender != router || s.Details.Nonce.Uint64() != p.nonce || at.Unix() > s.SigDeadline.Int64() || !bytes.Equal(sig, permitSignature(c.net.ID, own, s)) {
		return errModelRevert
	}
	*p = modelPermit{amount: s.Details.Amount.Uint64(), until: s.Details.Expiration.Uint64(), nonce: p.nonce + 1}
	return nil
}

// permitSignature stands for a signature, bound to the owner and to this very permit.
func permitSignature(chainID uint64, own common.Address, s permitSingle) []byte {
	d := s.Details
	h := crypto.Keccak256(word(chainID), own[:], d.Token[:], word(d.Amount.Uint64()), word(d.Expiration.Uint64()), word(d.Nonce.Uint64()), s.Spender[:], word(s.SigDeadline.Uint64()))
	return append(slices.Concat(h, h), 27)
}

// priceOut returns what the router pays for n now, for any token.
func (c *modelChain) priceOut(n uint64) uint64 { return n / 1000 * c.rate }

// logs returns the events of the call.
func (d modelDone) logs(tx, block common.Hash) (logs []*types.Log) {
	add := func(from common.Address, data []byte, topics ...common.Hash) {
		logs = append(logs, &types.Log{Address: from, Topics: topics, Data: data, TxHash: tx, BlockHash: block})
	}
	for _, m := range d.moves {
		if m.Token != chain.Native {
			add(m.Token, common.BigToHash(m.Amount).Bytes(), transferTopic, proof.TopicOf(m.From), proof.TopicOf(m.To))
		}
	}
	for _, g := range d.grants {
		amount := common.BigToHash(g.Amount).Bytes()
		switch {
		case d.logsNoAllowance:
		case g.Via != common.Address{}:
			add(g.Via, append(amount, make([]byte, 32)...), permit2Approved, proof.TopicOf(g.Owner), proof.TopicOf(g.Token), proof.TopicOf(g.Spender))
		default:
			add(g.Token, amount, erc20Approved, proof.TopicOf(g.Owner), proof.TopicOf(g.Spender))
		}
	}
	return logs
}
