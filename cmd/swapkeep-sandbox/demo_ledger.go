package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

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

	receiver common.Address // of the fee; zero: none
	block    uint64         // the last one before the swap
	nonce    uint64
	handed   int // transactions handed to the node before the swap
	had      *big.Int
	feeHad   *big.Int
}

func (s *show) openLedger(p plan) (*ledger, error) {
	c := s.box.Chain(p.chain)
	if c == nil {
		return nil, fmt.Errorf("chain %d does not run", p.chain)
	}
	gets, ok := coinNamed(c.Network, p.receives)
	if !ok {
		return nil, fmt.Errorf("%s has no %s", c.Network.Name, p.receives)
	}
	native := nativeOf(c.Network)
	return &ledger{plan: p, chain: c, name: c.Network.Name, account: common.HexToAddress(string(s.account)),
		native: native, pays: native, gets: gets}, nil
}

func (l *ledger) title(number int) string {
	title := fmt.Sprintf("Swap %d: %s for %s on %s", number, l.pays.text(l.plan.amount), l.gets.symbol, l.name)
	if l.plan.kill {
		title += ", and the daemon killed in the middle"
	}
	return title
}

// open notes where things stand before the swap.
func (l *ledger) open(ctx context.Context, t protocol.Terms) (err error) {
	if t.FeeReceiver != "" {
		l.receiver = common.HexToAddress(string(t.FeeReceiver))
	}
	l.block, l.handed = l.chain.Head().Number.Uint64(), len(l.chain.Transactions())
	if l.nonce, err = l.chain.Client().NonceAt(ctx, l.account, nil); err != nil {
		return err
	}
	l.had, l.feeHad, err = l.holdings(ctx)
	return err
}

// moved is what the account and the fee's receiver have got since.
func (l *ledger) moved(ctx context.Context) (got, fee *big.Int, err error) {
	has, feeHas, err := l.holdings(ctx)
	if err != nil {
		return nil, nil, err
	}
	return has.Sub(has, l.had), feeHas.Sub(feeHas, l.feeHad), nil
}

func (l *ledger) holdings(ctx context.Context) (account, receiver *big.Int, err error) {
	if account, err = l.balance(ctx, l.account); err != nil {
		return nil, nil, err
	}
	receiver = new(big.Int)
	if l.receiver != (common.Address{}) {
		receiver, err = l.balance(ctx, l.receiver)
	}
	return account, receiver, err
}

// balanceOf is the selector of ERC-20's balanceOf(address).
var balanceOf = crypto.Keccak256([]byte("balanceOf(address)"))[:4]

// balance reads the token out's balance of a holder.
func (l *ledger) balance(ctx context.Context, holder common.Address) (*big.Int, error) {
	token := common.HexToAddress(string(l.gets.token))
	out, err := l.chain.Client().CallContract(ctx, ethereum.CallMsg{
		To: &token, Data: append(balanceOf[:4:4], common.LeftPadBytes(holder[:], 32)...),
	}, nil)
	if err != nil {
		return nil, err
	}
	if len(out) != 32 {
		return nil, fmt.Errorf("balance of %s: %d bytes", l.gets.symbol, len(out))
	}
	return new(big.Int).SetBytes(out), nil
}

// payments are what an account's transactions since the opening come to.
type payments struct {
	nonceBefore, nonceAfter uint64
	mined                   int // on the chain, with the plan's amount
	signed                  int // different ones handed to the node
	handed                  int // how often any was
}

func (l *ledger) payments(ctx context.Context) (p payments, err error) {
	p.nonceBefore = l.nonce
	if p.nonceAfter, err = l.chain.Client().NonceAt(ctx, l.account, nil); err != nil {
		return p, err
	}
	signer := types.LatestSignerForChainID(new(big.Int).SetUint64(l.plan.chain))
	for n := l.block + 1; n <= l.chain.Head().Number.Uint64(); n++ {
		block, err := l.chain.Client().BlockByNumber(ctx, new(big.Int).SetUint64(n))
		if err != nil {
			return p, err
		}
		for _, tx := range block.Transactions() {
			if from, err := types.Sender(signer, tx); err == nil && from == l.account && tx.Value().Cmp(l.plan.amount) == 0 {
				p.mined++
			}
		}
	}
	return p, l.countHanded(&p, signer)
}

// countHanded looks at what was handed to the node, mined or not.
func (l *ledger) countHanded(p *payments, signer types.Signer) error {
	raws := l.chain.Transactions()
	if len(raws) < l.handed {
		return errors.New("the node forgot what it was handed")
	}
	seen := map[common.Hash]bool{}
	for _, raw := range raws[l.handed:] {
		var tx types.Transaction
		if err := tx.UnmarshalBinary(raw.Raw); err != nil {
			return fmt.Errorf("the node was handed what is no transaction: %w", err)
		}
		if from, err := types.Sender(signer, &tx); err == nil && from == l.account {
			p.handed++
			seen[tx.Hash()] = true
		}
	}
	p.signed = len(seen)
	return nil
}

// named is the coin of that address, as far as the demo knows it.
func (l *ledger) named(token protocol.Address) coin {
	for _, c := range []coin{l.native, l.gets} {
		if c.token == token {
			return c
		}
	}
	return coin{symbol: "units of " + string(token), token: token}
}

// contract names a called contract.
func (l *ledger) contract(a protocol.Address) string {
	names := map[common.Address]string{
		l.chain.Network.Contracts.UniversalRouter: "the Universal Router",
		l.chain.Network.Contracts.Permit2:         "Permit2",
		l.chain.Network.Wrapped.Address:           l.chain.Network.Wrapped.Symbol,
	}
	if name, ok := names[common.HexToAddress(string(a))]; ok {
		return name + " " + short(a)
	}
	return string(a)
}
