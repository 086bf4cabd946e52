package main

import (
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/cmd/internal/amount"
	"swapkeep/host/protocol"
	"swapkeep/sandbox"
)

// A ledger is what the chain itself says of one swap, read beside the daemon.
type ledger struct {
	plan    plan
	chain   *sandbox.Chain
	name    string
	account common.Address
	native  coin
	pays    coin
	gets    coin

	// As they were before the swap, and as it was consented to.
	digest   protocol.Hash
	floor    *big.Int       // of what it gets
	ceiling  *big.Int       // wei, of all its transactions together
	sends    int            // transactions of the plan
	receiver common.Address // of the fee; zero: none
	block    uint64         // the last one
	nonce    uint64         // the account's
	permits  uint64         // the account's nonce at Permit2
	handed   int            // transactions handed to the node
	had      holdings
}

func (s *show) openLedger(p plan) (*ledger, error) {
	c := s.box.Chain(p.chain)
	if c == nil {
		return nil, fmt.Errorf("chain %d does not run", p.chain)
	}
	native := nativeOf(c.Network)
	gets, known := coinNamed(c.Network, p.receives)
	pays, paysKnown := native, true
	if p.pays != "" {
		pays, paysKnown = coinNamed(c.Network, p.pays)
	}
	if !known || !paysKnown {
		return nil, fmt.Errorf("%s has no %s, or no %s", c.Network.Name, p.receives, p.pays)
	}
	return &ledger{plan: p, chain: c, name: c.Network.Name, account: common.HexToAddress(string(s.account)),
		native: native, pays: pays, gets: gets}, nil
}

func (l *ledger) title(number int) string {
	title := fmt.Sprintf("Swap %d: %s for %s on %s", number, l.pays.Text(l.plan.amount), l.gets.Symbol, l.name)
	if l.plan.but != "" {
		title += ", " + l.plan.but
	}
	return title
}

// open notes where things stand before the swap, and what is consented to.
func (l *ledger) open(ctx context.Context, r protocol.Review) (err error) {
	if r.Terms.FeeReceiver != "" {
		l.receiver = common.HexToAddress(string(r.Terms.FeeReceiver))
	}
	l.digest, l.floor, l.ceiling = r.Digest, r.Terms.FloorOut.Int(), r.Terms.GasCeiling.Int()
	for _, step := range r.Steps {
		if step.Kind != "typed" {
			l.sends++
		}
	}
	l.block, l.handed = l.chain.Head().Number.Uint64(), len(l.chain.Transactions())
	if l.nonce, err = l.chain.Client().NonceAt(ctx, l.account, nil); err != nil {
		return err
	}
	if l.had, err = l.holdings(ctx); err != nil {
		return err
	}
	left, err := l.left(ctx)
	l.permits = left.nonce
	return err
}

// holdings are balances that a swap changes.
type holdings struct {
	pays *big.Int // the account's, of what it pays
	gets *big.Int // the account's, of what it gets
	fee  *big.Int // the fee receiver's, of the same
}

func (l *ledger) holdings(ctx context.Context) (h holdings, err error) {
	if h.pays, err = l.balance(ctx, l.pays, l.account); err != nil {
		return h, err
	}
	if h.gets, err = l.balance(ctx, l.gets, l.account); err != nil {
		return h, err
	}
	h.fee = new(big.Int)
	if l.receiver != (common.Address{}) {
		h.fee, err = l.balance(ctx, l.gets, l.receiver)
	}
	return h, err
}

func (l *ledger) balance(ctx context.Context, c coin, holder common.Address) (*big.Int, error) {
	if c.token == protocol.Native {
		return l.chain.Client().BalanceAt(ctx, holder, nil)
	}
	out, err := l.read(ctx, common.HexToAddress(string(c.token)), "balanceOf(address)", 1, holder)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// A grant is what the account's token and Permit2 still allow.
type grant struct {
	allowance *big.Int // of Permit2, by the token
	permitted *big.Int // of the router, by Permit2
	nonce     uint64   // of the next permit: how many were used
}

// left reads what of the paid token can still be pulled; nothing of a native
// coin ever can.
func (l *ledger) left(ctx context.Context) (g grant, err error) {
	if l.pays.token == protocol.Native {
		return grant{allowance: new(big.Int), permitted: new(big.Int)}, nil
	}
	token, contracts := common.HexToAddress(string(l.pays.token)), l.chain.Network.Contracts
	out, err := l.read(ctx, token, "allowance(address,address)", 1, l.account, contracts.Permit2)
	if err != nil {
		return g, err
	}
	g.allowance = out[0]
	out, err = l.read(ctx, contracts.Permit2, "allowance(address,address,address)", 3, l.account, token, contracts.UniversalRouter)
	if err != nil {
		return g, err
	}
	g.permitted, g.nonce = out[0], out[2].Uint64()
	return g, nil
}

// read calls a view of a contract with addresses and returns so many words.
func (l *ledger) read(ctx context.Context, at common.Address, signature string, words int, args ...common.Address) ([]*big.Int, error) {
	data := crypto.Keccak256([]byte(signature))[:4]
	for _, a := range args {
		data = append(data, common.LeftPadBytes(a[:], 32)...)
	}
	raw, err := l.chain.Client().CallContract(ctx, ethereum.CallMsg{To: &at, Data: data}, nil)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", signature, at, err)
	}
	if len(raw) != 32*words {
		return nil, fmt.Errorf("%s of %s: %d bytes", signature, at, len(raw))
	}
	out := make([]*big.Int, words)
	for i := range out {
		out[i] = new(big.Int).SetBytes(raw[32*i : 32*(i+1)])
	}
	return out, nil
}

// named is the coin of that address, as far as the demo knows it.
func (l *ledger) named(token protocol.Address) coin {
	for _, c := range []coin{l.native, l.pays, l.gets} {
		if c.token == token {
			return c
		}
	}
	return coin{amount.Coin{Symbol: "units of " + string(token)}, token}
}

// contract names a called contract.
func (l *ledger) contract(a protocol.Address) string {
	names := map[protocol.Address]string{
		protocol.Checksummed(l.chain.Network.Contracts.UniversalRouter.Hex()): "the Universal Router",
		protocol.Checksummed(l.chain.Network.Contracts.Permit2.Hex()):         "Permit2",
	}
	for _, c := range []coin{l.pays, l.gets} {
		if c.token != protocol.Native {
			names[c.token] = c.Symbol
		}
	}
	if name, ok := names[a]; ok {
		return name + " " + short(a)
	}
	return string(a)
}
