package chain

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// A Block is a block that several hosts show alike.
type Block struct {
	Number uint64      `json:"number"`
	Hash   common.Hash `json:"hash"`
	Time   time.Time   `json:"time"`
}

// Settled returns the last block that counts as final: as deep as the network asks, and
// the same at two hosts where two are configured; hosts are those. It may lag, never
// lead. It may be repeated; an error says nothing about the chain.
func (h *MultiClient) Settled(ctx context.Context, id uint64) (b Block, hosts []string, err error) {
	p, err := h.pool(id)
	if err != nil {
		return b, nil, err
	}
	m := blockAgreement{p: p}
	for _, e := range p.order() {
		n, err := e.settled(ctx, p.network)
		if err != nil {
			m.errs = append(m.errs, err)
			continue
		}
		if b, hosts, ok := m.add(ctx, e, n); ok {
			return b, hosts, nil
		}
	}
	return b, nil, m.failure()
}

// Head returns the highest of the latest block numbers of two hosts, where two are
// configured: any later block did not exist before. It may lead where a host lies. It may
// be repeated; an error says nothing about the chain.
func (h *MultiClient) Head(ctx context.Context, id uint64) (uint64, error) {
	p, err := h.readingPool(id)
	if err != nil {
		return 0, err
	}
	answers, errs := queryHosts(ctx, p.order(), func(ctx context.Context, e *endpoint) (uint64, error) { return e.height(ctx) },
		func(answers []answer[uint64]) int { return p.quorum() - len(answers) })
	if len(answers) < p.quorum() {
		return 0, p.failure(errs)
	}
	var highest uint64
	for _, a := range answers {
		highest = max(highest, a.v)
	}
	return highest, nil
}

// height returns the number of e's latest block.
func (e *endpoint) height(ctx context.Context) (n uint64, err error) {
	_, err = e.do(ctx, func(ctx context.Context) (err error) {
		n, err = e.eth.BlockNumber(ctx)
		return err
	})
	return n, err
}

// settled returns the number of e's last block that counts as final on n.
func (e *endpoint) settled(ctx context.Context, n Network) (uint64, error) {
	final, err := e.finalized(ctx, n)
	if err != nil {
		return 0, err
	}
	latest, err := e.height(ctx)
	return min(final, latest+1-min(n.Depth, latest+1)), err
}

// finalized returns the number of the last block that e counts as final, where n goes by
// that; elsewhere it asks nothing and all blocks count.
func (e *endpoint) finalized(ctx context.Context, n Network) (uint64, error) {
	if !n.Finalized {
		return math.MaxUint64, nil
	}
	var b head
	_, err := e.do(ctx, func(ctx context.Context) (err error) {
		b, err = e.block(ctx, "finalized")
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("%s shows no final block: %w", e.host, err)
	}
	return uint64(b.Number), nil
}

// at returns e's block of that number.
func (e *endpoint) at(ctx context.Context, number uint64) (Block, error) {
	var b head
	_, err := e.do(ctx, func(ctx context.Context) (err error) {
		b, err = e.block(ctx, hexutil.EncodeUint64(number))
		return err
	})
	switch {
	case errors.Is(err, ethereum.NotFound):
		return Block{}, fmt.Errorf("%s has no block %d", e.host, number)
	case err != nil:
		return Block{}, err
	case uint64(b.Number) != number:
		return Block{}, fmt.Errorf("%s: block %d in place of block %d", e.host, uint64(b.Number), number)
	}
	return Block{number, b.Hash, blockTime(b.Time)}, nil
}

// A blockAgreement finds the last block that a quorum of hosts has reached and shows alike.
type blockAgreement struct {
	p        *pool
	views    []hostView
	errs     []error
	conflict bool // two hosts showed different blocks
}

type hostView struct {
	e      *endpoint
	upTo   uint64
	blocks map[uint64]Block // blocks asked for so far
}

// add adds an endpoint that has reached block upTo, and returns the block that it shares
// with one that joined before, and both hosts.
func (m *blockAgreement) add(ctx context.Context, e *endpoint, upTo uint64) (b Block, hosts []string, ok bool) {
	me := &hostView{e: e, upTo: upTo, blocks: map[uint64]Block{}}
	others := m.views
	m.views = append(m.views, *me)
	if m.p.quorum() < 2 {
		others = []hostView{*me}
	}
	for _, other := range others {
		if m.p.quorum() > 1 && other.e.host == e.host {
			continue
		}
		n := min(upTo, other.upTo)
		a, err := m.blockOf(ctx, other, n)
		if err != nil {
			continue
		}
		if b, err = m.blockOf(ctx, *me, n); err != nil {
			return b, nil, false
		}
		if a.Hash == b.Hash && a.Time.Equal(b.Time) {
			return b, slices.Compact([]string{other.e.host, e.host}), true
		}
		m.conflict = true
	}
	return Block{}, nil, false
}

// blockOf returns a comer's block of that number, and asks for it once.
func (m *blockAgreement) blockOf(ctx context.Context, c hostView, number uint64) (Block, error) {
	if b, ok := c.blocks[number]; ok {
		return b, nil
	}
	b, err := c.e.at(ctx, number)
	if err != nil {
		m.errs = append(m.errs, err)
		return b, err
	}
	c.blocks[number] = b
	return b, nil
}

// failure returns why no block was agreed on.
func (m *blockAgreement) failure() error {
	if m.conflict {
		return fmt.Errorf("chain %d: %w about a settled block", m.p.network.ID, ErrDisagree)
	}
	return m.p.failure(m.errs)
}

// nonceBitmapSelector is nonceBitmap(address owner, uint256 word), of Permit2 and of
// contracts that keep unordered nonces in the same way.
var nonceBitmapSelector = []byte{0x4f, 0xe0, 0x2b, 0x44}

// NonceBit reports whether an unordered nonce was used at the end of a block, which two
// hosts must agree on where two are configured: bit nonce mod 256 of nonceBitmap(owner,
// nonce / 256). Ask about a settled block. A node may have pruned the state of an old
// one; that is an error.
func (h *MultiClient) NonceBit(ctx context.Context, id uint64, contract, owner common.Address, nonce *big.Int, block uint64) (used bool, hosts []string, err error) {
	p, err := h.pool(id)
	if err != nil {
		return false, nil, err
	}
	if nonce.Sign() < 0 || nonce.BitLen() > 256 {
		return false, nil, errors.New("a nonce is a uint256")
	}
	data := slices.Concat(onAccounts(nonceBitmapSelector, owner), common.BigToHash(new(big.Int).Rsh(nonce, 8)).Bytes())
	bit := int(new(big.Int).And(nonce, big.NewInt(255)).Int64())
	return quorumReadEqual(ctx, p, p.order(), fmt.Sprintf("nonce %s", nonce), func(ctx context.Context, e *endpoint) (bool, error) {
		var out []byte
		_, err := e.do(ctx, func(ctx context.Context) (err error) {
			out, err = e.eth.CallContract(ctx, ethereum.CallMsg{To: &contract, Data: data}, new(big.Int).SetUint64(block))
			return err
		})
		if err != nil {
			return false, err
		}
		if len(out) != 32 {
			return false, fmt.Errorf("%s: %s keeps no nonces: it answered %d bytes", e.host, contract, len(out))
		}
		return new(big.Int).SetBytes(out).Bit(bit) == 1, nil
	})
}

// A BalanceDelta is the change of an account's native balance in one block.
type BalanceDelta struct {
	Amount *big.Int // wei; negative where it shrank
	Sent   uint64   // the account's own transactions in the block; Amount includes their fees and values
	First  uint64   // nonce of the first of them
}

// BalanceDelta returns how an account's native balance changed in one block, which two hosts must
// agree on where two are configured. Ask about a settled block; as for NonceBit, the
// state of an old one may be pruned.
func (h *MultiClient) BalanceDelta(ctx context.Context, id uint64, account common.Address, block uint64) (BalanceDelta, []string, error) {
	p, err := h.pool(id)
	if err != nil {
		return BalanceDelta{}, nil, err
	}
	if block == 0 {
		return BalanceDelta{}, nil, errors.New("nothing is before block 0")
	}
	type words struct {
		grown string // decimal, to be comparable
		sent  uint64
		first uint64
	}
	change, hosts, err := quorumReadEqual(ctx, p, p.order(), fmt.Sprintf("the balance of %s", account), func(ctx context.Context, e *endpoint) (w words, err error) {
		var balance [2]*big.Int
		var nonce [2]uint64
		_, err = e.do(ctx, func(ctx context.Context) (err error) {
			for i := range balance {
				at := new(big.Int).SetUint64(block - 1 + uint64(i))
				if balance[i], err = e.eth.BalanceAt(ctx, account, at); err != nil {
					return err
				}
				if nonce[i], err = e.eth.NonceAt(ctx, account, at); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return w, err
		}
		if nonce[1] < nonce[0] {
			return w, fmt.Errorf("%s: the nonce of %s went backwards", e.host, account)
		}
		return words{new(big.Int).Sub(balance[1], balance[0]).String(), nonce[1] - nonce[0], nonce[0]}, nil
	})
	if err != nil {
		return BalanceDelta{}, nil, err
	}
	amount, _ := new(big.Int).SetString(change.grown, 10) // written above
	return BalanceDelta{amount, change.sent, change.first}, hosts, nil
}
